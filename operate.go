package tenure

import (
	"context"
	"fmt"
	"time"
)

// Ask puts a request to the present leader into the election's record: to resign or, with request.To, to transfer the
// seat. It needs no connection to the leader, who meets the request at its next renewal or at once where the store
// pushes. Token and At are filled in.
//
// Like all functions that operate on an election it tries again after a conflict or a failure, and settles an unknown
// outcome by reading, until ctx ends; a store that does not heed ctx delays it by a second at most. If the store asks
// to wait for longer than ctx lasts, it fails at once. All of them are safe for concurrent use.
//
// The request is put to the term that is seen first and to no other. If that is over before the request was seen in
// the record, Ask looks at what came of it: who was to resign is gone, whyever that is, so this is no error; a transfer
// has to have led to request.To, which leads or has the seat kept for it. Ask returns the record of the term that was
// asked, with the request in it.
//
// Errors: [ErrNotLeader] if nobody leads; [ErrNotTransferred]; [ErrConfig] if an argument names nothing, or who leads
// already; the store's, or that of ctx, otherwise. The latter tell of the last attempt: the request may have been
// written by an earlier one, and their text then says so.
func Ask(ctx context.Context, store Store, election string, request Request) (Record, error) {
	if request.To != "" {
		if err := checkName("candidate", request.To); err != nil {
			return Record{}, err
		}
	}
	request.At = stamp()
	a := &asking{election: election, request: request}
	return (&edit{store: store, election: election, doing: "asking the leader", next: a.next}).run(ctx)
}

// asking is a request, and the term that it is put to once that is known.
type asking struct {
	election string
	request  Request
	known    bool
	term     Record
}

func (a *asking) next(now Snapshot, doubt bool) step {
	r := now.Record
	switch {
	case !a.known:
		return a.first(r)
	case r.Vacant() || r.Token != a.term.Token || r.Session != a.term.Session:
		return a.over(r)
	case sameRequest(r.Request, &a.request):
		return doneWith(r)
	case doubt && a.request.To == "" && r.Request != nil && r.Request.Token == r.Token:
		return doneWith(r) // somebody was quicker: the leader is to leave in any case, perhaps in favour of another
	}
	return a.put(r)
}

// first takes the term that is to be asked.
func (a *asking) first(r Record) step {
	switch {
	case r.Vacant():
		return refused(vacantError{a.election})
	case a.request.To == r.Leader:
		return refused(fmt.Errorf("%w: %q leads already", ErrConfig, r.Leader))
	}
	a.known, a.request.Token = true, r.Token
	a.term = a.put(r).record
	return a.put(r)
}

func (a *asking) put(r Record) step {
	asked, request := r.Clone(), a.request
	asked.Request = &request
	return toWrite(asked)
}

// over judges what came of the term that was asked by what came after it.
func (a *asking) over(now Record) step {
	to := a.request.To
	if to == "" || now.Leader == to || now.Vacant() && now.Reserved == to {
		return doneWith(a.term)
	}
	return refused(fmt.Errorf("%w: term %d of %q is over, and %s",
		ErrNotTransferred, a.term.Token, a.term.Leader, whoHolds(now)))
}

// whoHolds says in words who has the seat.
func whoHolds(r Record) string {
	switch {
	case !r.Vacant():
		return fmt.Sprintf("%q leads", r.Leader)
	case r.Reserved != "":
		return fmt.Sprintf("the seat is kept for %q", r.Reserved)
	}
	return "nobody leads"
}

// vacantError is the [ErrNotLeader] of whoever asks a leader and finds none: that one's text is for candidates.
type vacantError struct{ election string }

func (e vacantError) Error() string {
	return fmt.Sprintf("nobody leads %q, so nobody can be asked", e.election)
}

func (e vacantError) Unwrap() error { return ErrNotLeader }

// SetPause pauses an election: a leader drains and releases, and nobody bids until [LiftPause]. At is filled in. It
// works on an election that does not exist yet, too, and takes the place of an earlier pause. After an unknown outcome
// it leaves alone a pause that somebody set since. It returns the record as it is then; errors are those of [Ask].
func SetPause(ctx context.Context, store Store, election string, pause Pause) (Record, error) {
	pause.At = stamp()
	var before *Pause // the one that we tried to replace
	next := func(now Snapshot, doubt bool) step {
		r := now.Record.Clone()
		if doubt && r.Pause != nil && !samePause(r.Pause, before) {
			return doneWith(r)
		}
		paused := pause
		before, r.Pause = r.Pause, &paused
		return toWrite(r)
	}
	return (&edit{store: store, election: election, doing: "pausing the election", next: next}).run(ctx)
}

// LiftPause lets candidates stand again. After an unknown outcome it leaves alone a pause that somebody set since: the
// record that it returns then has that one. Errors are those of [Ask].
func LiftPause(ctx context.Context, store Store, election string) (Record, error) {
	var before *Pause // the one that we tried to lift
	next := func(now Snapshot, doubt bool) step {
		r := now.Record.Clone()
		if r.Pause == nil || doubt && !samePause(r.Pause, before) {
			return doneWith(r)
		}
		before, r.Pause = r.Pause, nil
		return toWrite(r)
	}
	return (&edit{store: store, election: election, doing: "resuming the election", next: next}).run(ctx)
}

// stamp is the wall clock's time as records hold it.
func stamp() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
