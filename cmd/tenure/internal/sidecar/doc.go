// Package sidecar serves elections over HTTP to programs of any language that run beside it.
//
// An election is served in one of two ways. In most the sidecar stands itself, on behalf of the program beside it,
// which asks who leads. In an election that is open to campaigns it does not stand: every client that holds a campaign
// request open is a candidate of its own, with its own session, and leads while the stream tells it that it may.
//
// Trust is what a client may act on, and no answer hands out more than the candidate has. A client whose stream ends
// has the drain to stop; one that has merely fallen silent keeps the seat until the trust that it was last told is
// over, because it may wake up and still believe it.
package sidecar
