package tenure

import (
	"bytes"
	"encoding/json"
	"maps"
	"time"
)

// MaxToken is the largest fencing token, 2^53-1: programs in languages whose numbers are floating point read it
// exactly. A term that would need a larger one is refused, never wrapped.
const MaxToken = 1<<53 - 1

// Record is what a store keeps of one election. Its JSON form (docs/record.md) is the wire format of stores that
// keep text; others map the fields onto columns or objects of their own.
type Record struct {
	// Token is the fencing token of the current term, or of the last one while the seat is vacant. It never falls.
	Token uint64
	// Leader is the ID of the leading candidate, empty while the seat is vacant.
	Leader string
	// Session is the random nonce that the leading process made at its start, empty while the seat is vacant.
	Session string
	// TTL is the length of the leader's lease, fixed for a term. A vacant record keeps the last one.
	TTL time.Duration
	// Renewals numbers the leader's attempts to write within the term. No two attempts share a number.
	Renewals uint64
	// Address is where the leader can be reached, as it chose to advertise it.
	Address string
	// Metadata is the leader's own information for others.
	Metadata map[string]string
	// Reserved is the ID of the candidate for which a vacant seat is kept, for at most TTL after first sight.
	Reserved string
	// Forgotten marks a tombstone: an election that nobody uses, kept for its token alone.
	Forgotten bool
	// Request is what somebody asks of the leader, nil if nothing.
	Request *Request
	// Pause is set while an operator keeps the seat vacant.
	Pause *Pause
	// ElectedAt and RenewedAt are by the leader's wall clock, for people to read. No decision rests on them.
	ElectedAt, RenewedAt time.Time
	// Extra holds fields that this version of the library does not know, so that they survive its writes.
	Extra map[string]json.RawMessage
}

// Request asks the leader to leave its seat. It is void once the term that it addresses is over.
type Request struct {
	// Token is the term that is asked.
	Token uint64 `json:"token"`
	// To is the ID of the candidate that the seat shall be kept for, empty to just resign.
	To string `json:"to,omitempty"`
	// By says who asks, for people.
	By string `json:"by,omitempty"`
	// At is when, by the asker's wall clock, for people.
	At time.Time `json:"at,omitzero"`
}

// Pause keeps an election without a leader until it is lifted.
type Pause struct {
	// By says who paused the election, for people.
	By string `json:"by,omitempty"`
	// Reason says why, for people.
	Reason string `json:"reason,omitempty"`
	// At is when, by the operator's wall clock, for people.
	At time.Time `json:"at,omitzero"`
}

// Vacant reports whether no leader is recorded.
func (r Record) Vacant() bool { return r.Leader == "" }

// Clone returns a copy that shares nothing with r.
func (r Record) Clone() Record {
	r.Metadata = maps.Clone(r.Metadata)
	r.Extra = maps.Clone(r.Extra)
	for name, value := range r.Extra {
		r.Extra[name] = bytes.Clone(value)
	}
	if r.Request != nil {
		request := *r.Request
		r.Request = &request
	}
	if r.Pause != nil {
		pause := *r.Pause
		r.Pause = &pause
	}
	return r
}
