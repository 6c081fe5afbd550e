package protocol

import "time"

// MaxToken is the largest token; see tenure.MaxToken.
const MaxToken = 1<<53 - 1

// Record is what the protocol reads and writes of an election's record. The remaining fields are the runtime's.
type Record struct {
	Token, Renewals uint64
	Leader, Session string // both empty while the seat is vacant
	TTL             time.Duration
	Reserved        string // the candidate for which a vacant seat is kept
	Request         Request
	Paused          bool
}

// Request asks the leader of term Token to leave, in favour of To if that is set. A zero Token is no request.
type Request struct {
	Token uint64
	To    string
}

// Vacant reports whether no leader is recorded.
func (r Record) Vacant() bool { return r.Leader == "" }

// compare orders records of one history: negative if r is older than other, zero if they differ at most by a request.
func (r Record) compare(other Record) int {
	switch {
	case r.Token != other.Token:
		return sign(r.Token, other.Token)
	case r.Renewals != other.Renewals:
		return sign(r.Renewals, other.Renewals)
	}
	return 0
}

func sign(a, b uint64) int {
	if a < b {
		return -1
	}
	return 1
}

// Snapshot is one state of the record. A zero Version means that there is none; its Token is then the store's floor.
type Snapshot struct {
	Version   string
	Record    Record
	Abandoned bool
	Revoked   bool // the store no longer vouches for the term that the record is of
	// Origin is the runtime's own; it comes back with every Write that starts from this snapshot.
	Origin any
}

// Exists reports whether there was a record.
func (s Snapshot) Exists() bool { return s.Version != "" }
