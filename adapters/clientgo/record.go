package tenureclientgo

import (
	"time"

	"github.com/tenure-go/tenure"
)

// Every write starts from the record last seen, so that requests, a pause, and fields of later versions survive it.

// bid is the record of a new term.
func (l *Lock) bid(ttl time.Duration) tenure.Record {
	r := l.next()
	r.Token = l.sight.highest + 1
	r.Leader, r.Session, r.TTL, r.Address = l.identity, l.session, ttl, l.address
	r.Metadata, r.Reserved, r.Request, r.Forgotten = nil, "", nil, false
	r.ElectedAt = r.RenewedAt
	return r
}

// renewal is the record of the same term with a number that no other attempt has.
func (l *Lock) renewal() tenure.Record { return l.next() }

// release is the vacant record after the term, kept for whom somebody asked to transfer the seat to.
func (l *Lock) release() tenure.Record {
	r := l.next()
	if r.Request != nil && r.Request.Token == r.Token {
		r.Reserved = r.Request.To
	}
	r.Leader, r.Session, r.Address, r.Metadata, r.Request = "", "", "", nil, nil
	return r
}

func (l *Lock) next() tenure.Record {
	r := l.sight.last.Record.Clone()
	l.attempt = max(l.attempt, r.Renewals) + 1
	r.Renewals = l.attempt
	r.RenewedAt = time.Now().UTC().Truncate(time.Millisecond)
	return r
}

// coarse reports whether the store holds only some TTLs, of which the default of a candidate need not be one.
func coarse(store tenure.Store) bool {
	u, ok := store.(tenure.TTLUnit)
	return ok && tenure.DefaultTTL%max(u.TTLUnit(), 1) != 0
}
