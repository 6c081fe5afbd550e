package tenure

import (
	"errors"
	"time"

	"github.com/tenure-go/tenure/internal/protocol"
)

// toProtocol gives the machine the part of a snapshot that it decides by. The whole record comes back with every
// write that starts from it.
func toProtocol(s Snapshot) protocol.Snapshot {
	r := s.Record
	out := protocol.Snapshot{
		Version: string(s.Version), Abandoned: s.Abandoned, Revoked: s.Revoked, Origin: &s.Record,
		Record: protocol.Record{
			Token: r.Token, Renewals: r.Renewals, Leader: r.Leader, Session: r.Session, TTL: r.TTL,
			Reserved: r.Reserved, Paused: r.Pause != nil,
		},
	}
	if r.Request != nil {
		out.Record.Request = protocol.Request{Token: r.Request.Token, To: r.Request.To}
	}
	return out
}

// compose makes the record of a write: the machine's fields over those of the record that it starts from, so that
// requests, a pause and fields of later versions survive.
func (c *Candidate) compose(e protocol.Effect) Record {
	r := *e.Base.Origin.(*Record)
	r = r.Clone()
	r.Token, r.Renewals = e.Record.Token, e.Record.Renewals
	r.Leader, r.Session, r.TTL, r.Reserved = e.Record.Leader, e.Record.Session, e.Record.TTL, e.Record.Reserved
	_, wall := c.clock.Now()
	r.RenewedAt = time.Unix(0, int64(wall)).UTC().Truncate(time.Millisecond)
	switch e.Purpose {
	case protocol.Bid:
		r.Address, r.Metadata, r.ElectedAt = c.config.address, c.config.metadata, r.RenewedAt
		r.Request, r.Forgotten = nil, false
	case protocol.Release:
		r.Address, r.Metadata, r.Request = "", nil, nil
	case protocol.Renew:
	}
	return r
}

// outcome says what the machine may conclude from the error of a call.
func outcome(err error) (protocol.Outcome, time.Duration) {
	switch {
	case err == nil:
		return protocol.OK, 0
	case errors.Is(err, ErrConflict):
		return protocol.Conflict, 0
	case errors.Is(err, ErrPermanent):
		return protocol.Permanent, 0
	case errors.Is(err, ErrNotApplied):
		return protocol.NotApplied, RetryAfter(err)
	}
	return protocol.Unknown, 0
}

// causes are the public names of the machine's causes.
var causes = map[protocol.Cause]error{
	protocol.LeaseExpired: ErrLeaseExpired,
	protocol.Deposed:      ErrDeposed,
	protocol.Resigned:     ErrResigned,
	protocol.Sick:         ErrUnhealthy,
	protocol.Stopped:      ErrStopped,
	protocol.Revoked:      ErrRevoked,
}
