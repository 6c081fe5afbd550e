// Package peers measures tenure beside other libraries that elect a leader, on real servers: how long a seat stays
// empty after a release and after a death, and what candidates at rest ask of their server. It is never released.
//
// A [Peer] is a library with the few lines that it takes to stand in an election as its documentation shows. All are
// driven through one interface, [Contender], by the same harness, each on a server of its own of the same kind, version
// and settings. [Run] measures a list of them and returns a [Report]; package contenders has the list.
//
//	make bench-peers
package peers
