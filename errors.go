package tenure

import (
	"errors"
	"fmt"
	"time"
)

// Errors that a [Store] returns, directly or wrapped. Any other error of a write means that its outcome is unknown.
var (
	// ErrConflict: the record's version is not the expected one. Nothing was written by this call.
	ErrConflict = errors.New("tenure: the record was changed by somebody else")
	// ErrNotApplied: certainly not written, though it may be tried again: refused, throttled, lock timeout. See
	// [NotApplied] for one that says how long to wait.
	ErrNotApplied = errors.New("tenure: not applied")
	// ErrPermanent: certainly not written, and trying again is useless until somebody repairs the cause: missing
	// permissions, corrupt or foreign data, an unsupported server. See [Permanent].
	ErrPermanent = errors.New("tenure: permanent failure of the store")
)

// ErrNoStore: a store that was to be opened as it is, and not to be made, is not there: its directory, file, tables or
// bucket are missing. Stores return it from the functions that open them, together with [ErrPermanent].
var ErrNoStore = errors.New("tenure: there is no such store")

// Errors that a [Candidate] or a function of this package returns.
var (
	// ErrConfig: the options contradict each other or cannot be safe. The message says which, with the values.
	ErrConfig = errors.New("tenure: refused configuration")
	// ErrRunning: the candidate already runs; one Run, Start or Campaign at a time.
	ErrRunning = errors.New("tenure: the candidate is already running")
	// ErrNotRunning: the call needs a candidate that was started.
	ErrNotRunning = errors.New("tenure: the candidate is not running")
	// ErrNotLeader: the call needs the leader, and this candidate is not; from [Ask], that nobody leads.
	ErrNotLeader = errors.New("tenure: not the leader")
	// ErrOverran: leader work did not return in the time it had. The seat was not released; it is free to others
	// once the lease has run out.
	ErrOverran = errors.New("tenure: leader work has not returned in time")
	// ErrNotReleased: the term is over, but the store did not confirm in time that the seat was given back. It is free
	// to others once the lease has run out; of a lease that ran out by itself it is not reported.
	ErrNotReleased = errors.New("tenure: the seat could not be given back")
	// ErrNotTransferred is returned when the term ended but its seat was not kept for the candidate asked for: another
	// hand-over came first, or the seat could not be given back.
	ErrNotTransferred = errors.New("tenure: the seat was not kept for the candidate that was named")
	// ErrNotReturned: something that the candidate called had not returned when it had to be gone, and may still run: a
	// call to the store, a health check, an observer, the log handler. The message says which.
	ErrNotReturned = errors.New("tenure: something that the candidate called has not returned")
	// ErrHeld: the seat has a living leader, and the call needs a vacant one.
	ErrHeld = errors.New("tenure: the election has a leader")
	// ErrGrade: the store's guarantee is weaker than the one asked for with [WithMinimumGrade].
	ErrGrade = errors.New("tenure: the store's guarantee is too weak")
)

// Causes of a term's end: context.Cause of the term's context is, or wraps, one of them.
var (
	// ErrLeaseExpired: the lease could not be renewed in time, or the process slept through it.
	ErrLeaseExpired = errors.New("tenure: the lease expired")
	// ErrDeposed: the store holds another leader's record, or none of ours.
	ErrDeposed = errors.New("tenure: deposed")
	// ErrRevoked: the store lost something besides the record that the term rested on, such as a session lock.
	ErrRevoked = errors.New("tenure: the store no longer vouches for the term")
	// ErrResigned: the leader resigned, by its own call, on request, or because the election was paused.
	ErrResigned = errors.New("tenure: resigned")
	// ErrUnhealthy: the health check failed, or too many renewals in a row did (see [WithMaxFailures]).
	ErrUnhealthy = errors.New("tenure: unhealthy")
	// ErrStopped: the candidate was stopped.
	ErrStopped = errors.New("tenure: stopped")
)

// Permanent marks err as one that repeating cannot cure. The result is ErrPermanent and err.
func Permanent(err error) error { return fmt.Errorf("%w: %w", ErrPermanent, err) }

// NotApplied marks err as a write that certainly did not happen. wait is how long the store asks to wait before the
// next call; zero if it did not say. The result is ErrNotApplied and err.
func NotApplied(err error, wait time.Duration) error { return &notApplied{err, max(wait, 0)} }

// RetryAfter returns how long the store asked to wait in an error made by [NotApplied], zero if it did not.
func RetryAfter(err error) time.Duration {
	var refused *notApplied
	if errors.As(err, &refused) {
		return refused.wait
	}
	return 0
}

type notApplied struct {
	err  error
	wait time.Duration
}

func (e *notApplied) Error() string {
	if e.wait > 0 {
		return fmt.Sprintf("%v (retry after %v): %v", ErrNotApplied, e.wait, e.err)
	}
	return fmt.Sprintf("%v: %v", ErrNotApplied, e.err)
}

func (e *notApplied) Unwrap() []error { return []error{ErrNotApplied, e.err} }
