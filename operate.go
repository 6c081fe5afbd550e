package tenure

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Ask puts a request to the present leader into the election's record: to resign or, with request.To, to transfer the
// seat. It needs no connection to the leader, who meets the request at its next renewal or at once where the store
// pushes. Token and At are filled in. It returns the record as written.
//
// Errors: [ErrNotLeader] if nobody leads, [ErrConfig] if an argument names nothing, the store's otherwise. Like all
// functions that operate on an election it tries again after a conflict and settles an unknown outcome by reading,
// until ctx ends.
func Ask(ctx context.Context, store Store, election string, request Request) (Record, error) {
	if request.To != "" {
		if err := checkName("candidate", request.To); err != nil {
			return Record{}, err
		}
	}
	request.At = stamp()
	return edit(ctx, store, election, "asking the leader", func(r *Record) error {
		switch {
		case r.Vacant():
			return vacantError{election}
		case request.To == r.Leader:
			return fmt.Errorf("%w: %q leads already", ErrConfig, request.To)
		}
		asked := request
		asked.Token = r.Token
		r.Request = &asked
		return nil
	})
}

// vacantError is the [ErrNotLeader] of whoever asks a leader and finds none: that one's text is for candidates.
type vacantError struct{ election string }

func (e vacantError) Error() string {
	return fmt.Sprintf("nobody leads %q, so nobody can be asked", e.election)
}

func (e vacantError) Unwrap() error { return ErrNotLeader }

// SetPause pauses an election: a leader drains and releases, and nobody bids until [LiftPause]. At is filled in. It
// works on an election that does not exist yet, too.
func SetPause(ctx context.Context, store Store, election string, pause Pause) (Record, error) {
	pause.At = stamp()
	return edit(ctx, store, election, "pausing the election", func(r *Record) error {
		paused := pause
		r.Pause = &paused
		return nil
	})
}

// LiftPause lets candidates stand again.
func LiftPause(ctx context.Context, store Store, election string) (Record, error) {
	return edit(ctx, store, election, "resuming the election", func(r *Record) error {
		if r.Pause == nil {
			return errNothingToDo
		}
		r.Pause = nil
		return nil
	})
}

// Forget empties the record of an election that nobody uses any more, down to a tombstone that keeps its token, and a
// pause if there is one; the next term goes on from there. A record that still names a leader is watched for one TTL
// first, and left alone, with [ErrHeld], if it changes meanwhile.
func Forget(ctx context.Context, store Store, election string) error {
	if err := checkPlace(store, election); err != nil {
		return err
	}
	before, err := store.Load(ctx, election)
	if err != nil {
		return fmt.Errorf("tenure: forgetting the election: %w", err)
	}
	if !before.Exists() {
		return nil
	}
	if !before.Record.Vacant() && !before.Abandoned {
		if err := sleep(ctx, before.Record.TTL); err != nil {
			return err
		}
	}
	_, err = edit(ctx, store, election, "forgetting the election", func(r *Record) error {
		if !r.Vacant() && (r.Session != before.Record.Session || r.Token != before.Record.Token ||
			r.Renewals != before.Record.Renewals) {
			return ErrHeld
		}
		*r = Record{
			Token: r.Token, Renewals: r.Renewals + 1, TTL: r.TTL, Forgotten: true, Pause: r.Pause, Extra: r.Extra,
		}
		return nil
	})
	return err
}

// edit changes a record in a way that leaves its term alone, again and again until it is done.
func edit(ctx context.Context, store Store, election, doing string, change func(*Record) error) (Record, error) {
	if err := checkPlace(store, election); err != nil {
		return Record{}, err
	}
	pause := 10 * time.Millisecond
	for {
		now, err := editOnce(ctx, store, election, change)
		if err == nil {
			return now, nil
		}
		if !retriable(ctx, err) {
			return Record{}, fmt.Errorf("tenure: %s: %w", doing, err)
		}
		if err := sleep(ctx, max(pause, RetryAfter(err))); err != nil {
			return Record{}, fmt.Errorf("tenure: %s: %w", doing, err)
		}
		pause = min(2*pause, time.Second)
	}
}

func editOnce(ctx context.Context, store Store, election string, change func(*Record) error) (Record, error) {
	now, err := store.Load(ctx, election)
	if err != nil {
		return Record{}, err
	}
	wanted := now.Record.Clone()
	switch err := change(&wanted); {
	case errors.Is(err, errNothingToDo):
		return now.Record, nil
	case err != nil:
		return Record{}, final{err}
	}
	written, err := store.CompareAndSwap(ctx, election, now.Version, wanted)
	return written.Record, err
}

// errNothingToDo ends an edit of a record that is already as wanted.
var errNothingToDo = errors.New("tenure: nothing to do")

// final marks an error as the change's own, which no repetition cures.
type final struct{ error }

func (f final) Unwrap() error { return f.error }

func retriable(ctx context.Context, err error) bool {
	var f final
	return ctx.Err() == nil && !errors.As(err, &f) && !errors.Is(err, ErrPermanent)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stamp is the wall clock's time as records hold it.
func stamp() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
