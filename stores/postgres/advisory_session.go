package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenure-go/tenure"
)

var (
	errGone     = errors.New("the session that held the lock has ended")
	errNotHeld  = errors.New("the session does not hold its lock any more")
	errMoved    = errors.New("the connection leads to another session of the server: a pooler is in transaction mode")
	errRanOut   = errors.New("the lease of the term that the lock was held for has run out")
	errReleased = errors.New("the term was released")
)

// session is a connection that holds the lock of one election. A goroutine owns the connection: it listens for its end,
// validates the lock, and makes the writes of the term one at a time.
type session struct {
	store    *Advisory
	election string
	lock     int64
	conn     *pgx.Conn
	backend  uint32 // the server's process
	expires  time.Time
	done     chan struct{} // closed when nothing of the session runs any more

	mu        sync.Mutex
	queue     []*errand
	interrupt context.CancelFunc // ends the present wait, nil if there is none
	ending    error              // why the session ends, nil while it stands

	// Guarded by the mutex of the store.
	term term
	last tenure.Snapshot
}

// errand is one statement on the session's connection, for a caller that may give up waiting for it.
type errand struct {
	run   func(context.Context) (tenure.Snapshot, error)
	bound time.Duration
	done  chan reply // holds one
}

type reply struct {
	snapshot tenure.Snapshot
	err      error
}

// holds reports whether the lock is held for the term.
func (s *session) holds(t term) bool {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	return s.term == t
}

// gone reports whether an error says that the session had ended before anything was sent on it.
func (s *session) gone(err error) bool { return errors.Is(err, errGone) }

// do runs one statement. If the caller's context ends, the statement goes on: only the session's own bounds decide
// whether its connection is worth anything, not how patient a caller was.
func (s *session) do(
	ctx context.Context, lockTimeout time.Duration, run func(context.Context) (tenure.Snapshot, error),
) (tenure.Snapshot, error) {
	e := &errand{run: run, bound: lockTimeout + s.store.config.patience, done: make(chan reply, 1)}
	if !s.enqueue(e) {
		return tenure.Snapshot{}, errGone
	}
	select {
	case r := <-e.done:
		return r.snapshot, r.err
	case <-ctx.Done():
	}
	if s.withdraw(e) {
		return tenure.Snapshot{}, tenure.NotApplied(ctx.Err(), 0)
	}
	return tenure.Snapshot{}, ctx.Err()
}

func (s *session) enqueue(e *errand) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ending != nil {
		return false
	}
	s.queue = append(s.queue, e)
	s.wake()
	return true
}

// wake has the goroutine look at what is queued. s.mu is held.
func (s *session) wake() {
	if s.interrupt != nil {
		s.interrupt()
	}
}

// withdraw reports whether the errand had not begun, and then never will.
func (s *session) withdraw(e *errand) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, other := range s.queue {
		if other == e {
			s.queue = append(s.queue[:i], s.queue[i+1:]...)
			return true
		}
	}
	return false
}

// next returns what is to be done, nil if there is nothing.
func (s *session) next() *errand {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return nil
	}
	e := s.queue[0]
	s.queue = s.queue[1:]
	return e
}

// end has the goroutine close the session.
func (s *session) end() { s.stop(errClosed) }

func (s *session) stop(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ending == nil {
		s.ending = why
	}
	s.wake()
}

// stopped returns why the session ends, nil while it stands.
func (s *session) stopped() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ending
}

// renew writes the row of the term that the lock is held for.
func (s *session) renew(ctx context.Context, w write) (tenure.Snapshot, error) {
	a, sent := s.store, time.Now()
	o := swapOptions{a.lockTimeout(ctx), a.table.config.pushRenewals}
	return s.do(ctx, o.lockTimeout, func(ctx context.Context) (tenure.Snapshot, error) {
		result, err := a.table.layout.swap(ctx, s.conn, w.election, w.old, w.record, o)
		if err != nil {
			return tenure.Snapshot{}, err
		}
		s.landed(sent, result.Snapshot)
		if result.renewal {
			a.table.hub.renewed(w.election, result.Snapshot)
		}
		return result.Snapshot, nil
	})
}

// release writes the row vacant and gives back the lock, and with it the session.
func (s *session) release(ctx context.Context, w write) (tenure.Snapshot, error) {
	a, timeout := s.store, s.store.lockTimeout(ctx)
	return s.do(ctx, timeout, func(ctx context.Context) (tenure.Snapshot, error) {
		snapshot, err := a.table.layout.giveBack(ctx, unprepared{s.conn}, w, timeout, s.lock)
		if err == nil {
			s.stop(errReleased)
		}
		return snapshot, err
	})
}

// supersede begins another term of the same election under the lock that is held already.
func (s *session) supersede(ctx context.Context, w write) (tenure.Snapshot, error) {
	a, sent, timeout := s.store, time.Now(), s.store.lockTimeout(ctx)
	badge := a.badge(w.election, w.record.Session)
	return s.do(ctx, timeout, func(ctx context.Context) (tenure.Snapshot, error) {
		snapshot, _, err := a.table.layout.take(ctx, unprepared{s.conn}, w, timeout, s.lock, false, badge)
		if err == nil {
			s.landed(sent, snapshot)
		}
		a.doubt(w, err)
		return snapshot, err
	})
}

// lockTimeout is how long a write on a connection with a lock may wait for other locks.
func (a *Advisory) lockTimeout(ctx context.Context) time.Duration {
	return min(lockTimeout(ctx), a.config.patience)
}

// landed notes a write of the term, and when it was sent: nobody acts under the term for longer than its lease from
// there.
func (s *session) landed(sent time.Time, snapshot tenure.Snapshot) {
	s.expires = sent.Add(snapshot.Record.TTL)
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	s.term, s.last = termOf(snapshot.Record), snapshot
	if s.store.lost[s.election] == s.term {
		delete(s.store.lost, s.election) // an earlier bid for it, whose reply was lost
	}
}

// run owns the connection until the lock is given back or lost.
func (s *session) run() {
	defer close(s.done)
	why := s.serve()
	s.finish(why)
	for e := s.next(); e != nil; e = s.next() {
		e.done <- reply{err: errGone}
	}
	s.close(why)
}

// finish takes the session out of use, and tells if its lock was lost. It comes before the reply to what ended it.
func (s *session) finish(why error) {
	s.stop(why)
	s.store.drop(s, why)
}

// close ends the connection. One that is cut off is not waited for.
func (s *session) close(why error) {
	closing, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = s.conn.Close(closing)
	if !errors.Is(why, errReleased) {
		_ = s.conn.PgConn().Conn().Close()
	}
}

func (s *session) serve() error {
	validateAt := time.Now().Add(s.store.config.every)
	for {
		if err := s.work(); err != nil {
			return err
		}
		now := time.Now()
		if !now.Before(s.expires) {
			return errRanOut
		}
		if !now.Before(validateAt) {
			if err := s.validate(); err != nil {
				return err
			}
			validateAt = time.Now().Add(s.store.config.every)
		}
		if err := s.wait(validateAt); err != nil {
			return err
		}
	}
}

// work does what is queued.
func (s *session) work() error {
	for e := s.next(); e != nil; e = s.next() {
		ctx, cancel := context.WithTimeout(context.Background(), e.bound)
		snapshot, err := e.run(ctx)
		cancel()
		why := s.stopped()
		if s.conn.IsClosed() {
			why = err
		}
		if why != nil {
			s.finish(why)
		}
		e.done <- reply{snapshot, err}
		if why != nil {
			return why
		}
	}
	return s.stopped()
}

// validate makes sure that the session is the one that took the lock, and that it has it.
func (s *session) validate() error {
	ctx, cancel := context.WithTimeout(context.Background(), s.store.config.patience)
	defer cancel()
	var backend uint32
	var held bool
	err := s.conn.QueryRow(ctx, validateText, s.lock).Scan(&backend, &held)
	switch {
	case err != nil:
		return fmt.Errorf("validating the lock: %w", err)
	case backend != s.backend:
		return errMoved
	case !held:
		return errNotHeld
	}
	return nil
}

// wait listens for the end of the connection until something is to be done.
func (s *session) wait(until time.Time) error {
	if s.expires.Before(until) {
		until = s.expires
	}
	ctx, cancel := context.WithDeadline(context.Background(), until)
	defer cancel()
	if !s.idle(cancel) {
		return nil
	}
	defer s.busy()
	for {
		_, err := s.conn.WaitForNotification(ctx)
		switch {
		case err == nil: // of a channel that the user's own hook listens on
		case s.conn.IsClosed() || ctx.Err() == nil:
			return err
		default:
			return nil
		}
	}
}

// idle says how to interrupt the wait that begins, unless there is something to do.
func (s *session) idle(interrupt context.CancelFunc) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) > 0 || s.ending != nil {
		return false
	}
	s.interrupt = interrupt
	return true
}

func (s *session) busy() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.interrupt = nil
}
