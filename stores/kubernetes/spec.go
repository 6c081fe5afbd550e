package kubernetes

import (
	"math"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/tenure-go/tenure"
)

// What a Lease says of a seat that is nobody's and shall not be taken. Electors of client-go wait for it as for
// anybody.
const (
	pausedHolder   = "tenure: paused"
	reservedHolder = "tenure: kept for "
)

// releasedSeconds is what client-go writes for the duration of a lease that it releases; 0 is not allowed.
const releasedSeconds = 1

// specOf returns how an elector of client-go has to see a record. It follows from the record alone, and changes
// whenever the mark of a leader does: an elector counts the lease from when it last saw a change.
func specOf(r tenure.Record) coordinationv1.LeaseSpec {
	holder, seconds := seatOf(r)
	transitions := transitionsOf(r.Token)
	return coordinationv1.LeaseSpec{
		HolderIdentity: &holder, LeaseDurationSeconds: &seconds, LeaseTransitions: &transitions,
		AcquireTime: microTime(r.ElectedAt), RenewTime: microTime(renewTime(r)),
	}
}

// seatOf returns who keeps electors of client-go away, and for how long after they last saw a change.
func seatOf(r tenure.Record) (holder string, seconds int32) {
	switch {
	case foreign(r):
		return r.Leader, wholeSeconds(r.TTL)
	case r.Leader != "":
		return r.Leader + "_" + r.Session, wholeSeconds(r.TTL) // the ID alone need not be unique
	case r.Pause != nil:
		return pausedHolder, math.MaxInt32
	case r.Reserved != "":
		return reservedHolder + r.Reserved, wholeSeconds(r.TTL)
	}
	return "", releasedSeconds
}

// wholeSeconds never makes a lease shorter.
func wholeSeconds(ttl time.Duration) int32 {
	return int32(max(1, (ttl+time.Second-1)/time.Second)) //nolint:gosec // a TTL is a day at most
}

// renewTime tells one renewal from the next even for a leader whose wall clock stands still: the number of the renewal
// is in the microseconds, which the record's own time does not have.
func renewTime(r tenure.Record) time.Time {
	at := r.RenewedAt
	if at.IsZero() {
		at = time.Unix(0, 0)
	}
	return at.Truncate(time.Millisecond).Add(time.Duration(r.Renewals%1000) * time.Microsecond)
}

// transitionsOf returns the count of takeovers that belongs to a token. It is redundant, for the day on which somebody
// writes the Lease who drops annotations.
func transitionsOf(token uint64) int32 {
	return int32(min(max(token, 1)-1, math.MaxInt32)) //nolint:gosec // it is bounded
}
