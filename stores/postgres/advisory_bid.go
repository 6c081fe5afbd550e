package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/certainty"
)

const (
	// attempts is how often one bid looks at a lock that others are about to give back, or whose holder was evicted.
	attempts = 6
	// firstGap is the pause before the second look; it doubles.
	firstGap = 4 * time.Millisecond
	// takenPause is how long a candidate is told to wait for a lock that another one of ours has.
	takenPause = 100 * time.Millisecond
	// lingering is how long a session of ours must be seen with a lock under which nobody leads before it is evicted.
	lingering = time.Second
)

// begin is a bid: a swap that begins a term, from what was seen. s is the session that holds the lock already, nil if
// this store has none.
func (a *Advisory) begin(
	ctx context.Context, s *session, w write, seen tenure.Snapshot,
) (_ tenure.Snapshot, err error) {
	if s != nil {
		snapshot, err := s.supersede(ctx, w)
		if !s.gone(err) {
			return snapshot, a.failed(w, err)
		}
	}
	b := &bid{store: a, write: w, lock: a.LockID(w.election), seen: seen}
	if err := a.claim(b.lock, w.election); err != nil {
		return tenure.Snapshot{}, a.failed(w, err)
	}
	snapshot, err := b.run(ctx)
	return snapshot, a.failed(w, err)
}

// failed says what is known of the failure of a bid.
func (a *Advisory) failed(w write, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("postgres: bidding for %q: %w", w.election, outcome(err))
}

// doubt follows the end of a statement that was to begin a term. If nothing is known of what became of it, the row may
// come to name the term, but the lock is not held for it.
func (a *Advisory) doubt(w write, err error) {
	if err != nil && !certainty.NotWritten(outcome(err)) {
		a.revoke(w.election, termOf(w.record))
	}
}

// bid is one attempt to begin a term.
type bid struct {
	store *Advisory
	write write
	lock  int64
	seen  tenure.Snapshot // the state from which it starts
	conn  *pgx.Conn       // nil until the lock seemed to be free
	pid   uint32          // the server's process behind it
}

// run tries until the lock is taken, or is known not to be had now.
func (b *bid) run(ctx context.Context) (snapshot tenure.Snapshot, err error) {
	kept := false
	defer func() {
		if b.conn != nil && !kept {
			hangUp(b.conn)
		}
	}()
	for gap := firstGap; ; gap *= 2 {
		if err := b.clear(ctx, gap == firstGap<<(attempts-1)); err != nil {
			return tenure.Snapshot{}, err
		}
		if err := b.connect(ctx); err != nil {
			return tenure.Snapshot{}, unwritten(err)
		}
		r, ended := b.send(ctx)
		if !ended {
			kept = true
			return tenure.Snapshot{}, ctx.Err()
		}
		if r.err != nil || r.got {
			kept = r.err == nil
			return r.snapshot, r.err
		}
		select {
		case <-time.After(gap):
		case <-ctx.Done():
			return tenure.Snapshot{}, tenure.NotApplied(ctx.Err(), 0)
		}
	}
}

// hangUp ends a connection that may hold the lock.
func hangUp(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Close(ctx)
	_ = conn.PgConn().Conn().Close() // where the end of a call has closed it already, that would take its time
}

// connect makes the connection, unless that was done before.
func (b *bid) connect(ctx context.Context) (err error) {
	if b.conn == nil {
		b.conn, b.pid, err = b.store.dial(ctx, b.badge())
	}
	return err
}

func (b *bid) badge() string { return b.store.badge(b.write.election, b.write.record.Session) }

// taken is what became of an attempt to take the lock.
type taken struct {
	snapshot tenure.Snapshot
	got      bool
	err      error
}

// send tries to take the lock and to write the row. If the caller's context ends first, that goes on: what lands then
// has its lock, and is seen by the next Load.
func (b *bid) send(ctx context.Context) (r taken, ended bool) {
	timeout := b.store.lockTimeout(ctx)
	done, left := make(chan taken), make(chan struct{})
	if !b.store.spawn(func() {
		r := b.take(timeout)
		select {
		case done <- r:
		case <-left:
			if r.err != nil || !r.got {
				hangUp(b.conn)
			}
		}
	}) {
		return taken{err: errClosed}, true
	}
	select {
	case r := <-done:
		return r, true
	case <-ctx.Done():
		close(left)
		return taken{}, false
	}
}

func (b *bid) take(timeout time.Duration) taken {
	a, sent := b.store, time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), timeout+a.config.patience)
	defer cancel()
	snapshot, got, err := a.table.layout.take(ctx, unprepared{b.conn}, b.write, timeout, b.lock, true, b.badge())
	if err == nil && got {
		err = a.hold(b, snapshot, sent)
	}
	a.doubt(b.write, err)
	return taken{snapshot, got, err}
}

// spawn runs what Close waits for. It reports false if the store is closed.
func (a *Advisory) spawn(run func()) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.bids.Go(run)
	}
	return !a.closed
}

// clear looks who has the lock, over the pool: most bids that come too late end here, without a connection of their
// own. No error means that it is worth trying. A holder that may be about to go is none either, but for the last look.
func (b *bid) clear(ctx context.Context, last bool) error {
	all, err := onServer(ctx, b.store.table, func(q querier) ([]holder, error) { return holders(ctx, q, b.lock) })
	if err != nil {
		return unwritten(err)
	}
	if len(all) == 0 {
		b.store.refused.forget(b.write.election)
		return nil
	}
	h := all[0]
	switch {
	case len(all) > 1 || !h.ours(b.store):
		return tenure.NotApplied(fmt.Errorf("the lock %d is held by another program, %v", b.lock, h), b.store.config.every)
	case !h.of(b.store, b.write.election):
		return collision(b.lock, b.write.election, fmt.Sprintf("another election (%v)", h))
	}
	if wait := b.standing(h); wait > 0 {
		return b.outrun(ctx, h, last, wait)
	}
	if ended, err := b.evict(ctx, h); err != nil || ended {
		return err
	}
	return b.outrun(ctx, h, last, takenPause)
}

// standing returns for how much longer a session of ours is to be left alone: as long as somebody may lead with it.
func (b *bid) standing(h holder) time.Duration {
	a, w, r := b.store, b.write, b.seen.Record
	switch {
	case h.is(a, w.election, w.record.Session):
		return 0 // the bidder's own, from a term that it does not lead any more
	case !r.Vacant() && h.is(a, w.election, r.Session):
		return a.refused.leaseLeft(w.election, b.seen)
	}
	// It is not the one in the row: about to bid, just released, or a zombie.
	return max(a.refused.lingers(w.election, h, termOf(r)), a.refused.leaseLeft(w.election, b.seen))
}

// outrun tells a bid that came second from one that meets a lock nobody leads with.
func (b *bid) outrun(ctx context.Context, h holder, last bool, wait time.Duration) error {
	now, err := b.store.Load(ctx, b.write.election)
	switch {
	case err != nil:
		return unwritten(err)
	case now.Version != b.write.old:
		return tenure.ErrConflict
	case last:
		return tenure.NotApplied(fmt.Errorf("the lock %d is held by %v", b.lock, h), min(wait, takenPause))
	}
	return nil
}

// evict ends a session of ours under which nobody leads any more. The server refuses that to a user who is neither the
// session's, nor a member of its role or of pg_signal_backend.
func (b *bid) evict(ctx context.Context, h holder) (ended bool, err error) {
	w := b.write
	bidding := !h.is(b.store, w.election, w.record.Session) && !h.is(b.store, w.election, b.seen.Record.Session)
	count, err := onServer(ctx, b.store.table, func(q querier) (count int, err error) {
		text := b.store.table.layout.fill(evictText)
		err = q.QueryRow(ctx, text, b.lock, h.pid, h.name, bidding, w.election, string(w.old)).Scan(&count)
		return count, err
	})
	if err == nil {
		return count > 0, nil
	}
	err = fmt.Errorf("the lock %d is held by %v, which nobody leads with and cannot be ended: %w", b.lock, h, hidden(err))
	return false, tenure.NotApplied(err, b.store.config.every)
}

// hidden keeps the text of an error and not what it is: that one may not end a session now is nothing permanent.
func hidden(err error) error { return errors.New(err.Error()) }

// hold takes the connection into use that has the lock.
func (a *Advisory) hold(b *bid, snapshot tenure.Snapshot, sent time.Time) error {
	s := &session{
		store: a, election: b.write.election, lock: b.lock, conn: b.conn, backend: b.pid, done: make(chan struct{}),
	}
	s.landed(sent, snapshot)
	a.refused.forget(s.election)
	a.mu.Lock()
	old, closed := a.held[s.election], a.closed
	if !closed {
		a.held[s.election] = s
		go s.run()
	}
	a.mu.Unlock()
	if old != nil {
		old.stop(errNotHeld) // it has not noticed yet
	}
	if closed {
		hangUp(b.conn)
		return errors.New("the store was closed meanwhile") // and the row names the term
	}
	return nil
}

// refusals are what a store remembers of bids for locks that were held.
type refusals struct {
	mu        sync.Mutex
	holders   map[string]sighting // by election
	elections map[string]sighting
}

// sighting is since when something has been seen as it is.
type sighting struct {
	what  any
	since time.Time
}

func (r *refusals) forget(election string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.holders, election)
}

// lingers returns how long is left until a holder has been seen with the lock long enough, while the row was of the
// same term.
func (r *refusals) lingers(election string, h holder, t term) time.Duration {
	type pair struct {
		holder
		term
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return lingering - sight(&r.holders, election, pair{h, t})
}

// leaseMark is what a leader changes with each renewal.
type leaseMark struct {
	term
	renewals uint64
}

// saw notes which renewal an election is at.
func (r *refusals) saw(election string, s tenure.Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.Record.Vacant() {
		delete(r.elections, election)
		return
	}
	sight(&r.elections, election, leaseMark{termOf(s.Record), s.Record.Renewals})
}

// leaseLeft returns how long is left until the mark of a snapshot has been seen for the whole lease, by the monotonic
// clock of this process alone.
func (r *refusals) leaseLeft(election string, s tenure.Snapshot) time.Duration {
	if s.Record.Vacant() {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return s.Record.TTL - sight(&r.elections, election, leaseMark{termOf(s.Record), s.Record.Renewals})
}

// sight returns for how long something has been seen as it is now.
func sight(all *map[string]sighting, election string, what any) time.Duration {
	now := time.Now()
	if *all == nil {
		*all = map[string]sighting{}
	}
	if known, ok := (*all)[election]; ok && known.what == what {
		return now.Sub(known.since)
	}
	(*all)[election] = sighting{what, now}
	return 0
}
