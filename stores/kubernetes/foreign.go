package kubernetes

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/tenure-go/tenure"
)

// foreignSession begins the session of a leader that is no candidate of tenure. What a candidate draws for its session
// has no such character.
const foreignSession = "elector:"

// foreign reports whether a record is of a term that an elector of client-go leads.
func foreign(r tenure.Record) bool {
	return r.Leader != "" && strings.HasPrefix(r.Session, foreignSession)
}

// translate returns the record of a Lease that somebody else has written since the annotation was, which may be
// missing.
//
// The token is above all that were there before the foreign term, so that the next candidate's is above both. The
// resource version, which rises with every write, stands for the number of the renewal: so whatever the foreign leader
// writes begins the count of its lease anew, and no wall clock decides. A pause stays, a request was for an earlier
// term.
func translate(c content, lease *coordinationv1.Lease, floor uint64) (tenure.Record, error) {
	if err := readable(lease.Spec); err != nil {
		return tenure.Record{}, err
	}
	renewals := counter(lease)
	if renewals == 0 {
		return tenure.Record{}, fmt.Errorf("its resource version %q is no number", lease.ResourceVersion)
	}
	now, before := sealOf(lease.Spec), c.before()
	r := tenure.Record{
		Renewals: renewals, TTL: before.TTL, Pause: before.Pause, Extra: before.Extra, ElectedAt: timeOf(now.Acquired),
		RenewedAt: timeOf(now.Renewed), Token: max(floor+1, before.Token+1, uint64(max(now.Transitions, 0))+1),
	}
	if c.continues(now) {
		r.Token, r.Request = before.Token, before.Request
	}
	if r.Token > tenure.MaxToken {
		return tenure.Record{}, errors.New("no token is left")
	}
	if now.Holder != "" {
		r.Leader, r.Session = now.Holder, foreignSession+strconv.FormatUint(r.Token, 10)
		r.TTL = time.Duration(now.Seconds) * time.Second
	}
	return r, nil
}

// continues reports whether the foreign term of the annotation's record still goes on, or has just been released.
func (c content) continues(now seal) bool {
	before := c.before()
	return foreign(before) && c.Spec.Transitions == now.Transitions && (now.Holder == before.Leader || now.Holder == "")
}

// readable refuses a spec that says who leads, but not for how long: nobody could ever follow.
func readable(spec coordinationv1.LeaseSpec) error {
	const most = int32(tenure.MaxTTL / time.Second)
	seconds := value(spec.LeaseDurationSeconds)
	switch {
	case value(spec.Strategy) != "":
		return fmt.Errorf("it is of a coordinated election (strategy %q), in which the control plane chooses the leader",
			*spec.Strategy)
	case value(spec.HolderIdentity) == "":
		return nil
	case seconds <= 0 || seconds > most:
		return fmt.Errorf("its holder %q has a leaseDurationSeconds of %d; want 1 to %d",
			*spec.HolderIdentity, seconds, most)
	}
	return nil
}

func timeOf(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}
