package tenure

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// edit changes an election's record in a way that leaves its term alone, again and again until it is done.
type edit struct {
	store    Store
	election string
	doing    string // in words, for errors
	// next says what the present state calls for. doubt is set once an attempt may have been written without our
	// knowing: what it wanted must then be recognised, and what others did since must not be undone.
	next func(now Snapshot, doubt bool) step

	sight sight
	doubt bool
}

// step is what to do next: return the record or the error, or write the record, or look again.
type step struct {
	record Record
	err    error
	write  bool
	again  time.Duration
}

func doneWith(r Record) step      { return step{record: r} }
func refused(err error) step      { return step{err: err} }
func toWrite(r Record) step       { return step{record: r, write: true} }
func lookIn(d time.Duration) step { return step{again: max(d, time.Millisecond)} }

func (e *edit) failed(err error) error {
	if e.doubt {
		return fmt.Errorf("tenure: %s: %w (an earlier attempt may have been written)", e.doing, err)
	}
	return fmt.Errorf("tenure: %s: %w", e.doing, err)
}

// run goes on until the edit is done, refused, or ctx ends.
func (e *edit) run(ctx context.Context) (Record, error) {
	if err := checkPlace(e.store, e.election); err != nil {
		return Record{}, err
	}
	pause := 10 * time.Millisecond
	for {
		s, err := e.attempt(ctx)
		wait := s.again
		switch {
		case err == nil && wait == 0:
			return s.record, nil
		case err != nil:
			if !retriable(ctx, err) {
				return Record{}, e.failed(err)
			}
			if outlasts(ctx, RetryAfter(err)) {
				return Record{}, e.failed(fmt.Errorf("the store asks to wait for longer than the context lasts: %w", err))
			}
			wait = max(pause, RetryAfter(err))
			pause = min(2*pause, time.Second)
		}
		if sleep(ctx, wait) != nil {
			return Record{}, e.failed(interrupted(ctx, err))
		}
	}
}

// interrupted is the error of an edit that was not done in time; last is what the store said last, nil if nothing.
func interrupted(ctx context.Context, last error) error {
	if last == nil {
		return ctx.Err()
	}
	return fmt.Errorf("%w; the last failure was: %v", ctx.Err(), last) //nolint:errorlint // it is not what ended the edit
}

// attempt looks, and writes if that is called for.
func (e *edit) attempt(ctx context.Context) (step, error) {
	now, err := within(ctx, func() (Snapshot, error) { return e.store.Load(ctx, e.election) })
	if err != nil {
		return step{}, err
	}
	if e.sight.take(time.Now(), now, true) == outdated {
		return step{}, errOutdated
	}
	s := e.next(now, e.doubt)
	switch {
	case s.err != nil:
		return s, final{s.err}
	case !s.write:
		return s, nil
	}
	written, err := within(ctx, func() (Snapshot, error) {
		return e.store.CompareAndSwap(ctx, e.election, now.Version, s.record)
	})
	e.doubt = e.doubt || undecided(err)
	return doneWith(written.Record), err
}

// errOutdated: a load has shown a state that is older than one before it.
var errOutdated = errors.New("the store shows an earlier state than before")

// undecided reports whether a write with such an error may have been written, now or later.
func undecided(err error) bool {
	return err != nil && !errors.Is(err, ErrConflict) && !errors.Is(err, ErrNotApplied) && !errors.Is(err, ErrPermanent)
}

// final marks an error as the edit's own, which no repetition cures.
type final struct{ error }

func (f final) Unwrap() error { return f.error }

func retriable(ctx context.Context, err error) bool {
	var f final
	return ctx.Err() == nil && !errors.As(err, &f) && !errors.Is(err, ErrPermanent)
}

// outlasts reports whether ctx ends before d is over.
func outlasts(ctx context.Context, d time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ok && d > time.Until(deadline) && d > 0
}
