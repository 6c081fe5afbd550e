package tenure_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

// S3, S4: the lease counts from before the sending of the last renewal that landed, whatever the store does.
func TestS4TrustEndsWhileTheStoreHangs(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		store := &away{Store: inner}
		c, d := start(t, store, "a")
		elected := time.Now()
		term, ok := c.Term()
		if !ok {
			t.Fatal("a does not lead")
		}
		store.hangs.Store(true)
		time.Sleep(time.Until(elected.Add(trust)) - time.Millisecond)
		if !c.IsLeader() || !term.Valid() {
			t.Error("trust ended before the lease: an outage shorter than that must change nothing (L3)")
		}
		time.Sleep(time.Millisecond)
		if c.IsLeader() || term.Valid() {
			t.Error("trust outlived the lease")
		}
		synctest.Wait()
		if e, ok := d.find(tenure.EventEnded); !ok || !errors.Is(e.Err, tenure.ErrLeaseExpired) {
			t.Errorf("the end of the term was reported as %+v", e)
		}
		store.hangs.Store(false)
		stop(t, c)
	})
}

// S4: a process that slept through its lease gets the right answer to its first question, whichever clock noticed; and
// the answer stays, even if the clock goes back.
func TestS4FirstAnswerAfterAPauseIsNo(t *testing.T) {
	for _, test := range []struct {
		name       string
		mono, wall time.Duration // by how far each clock jumps
	}{
		{"the process was paused", 2 * ttl, 2 * ttl},
		{"the machine was suspended: mono stood still", 0, 2 * ttl},
		{"the wall clock was stepped ahead", 0, time.Hour},
		{"paused, and the wall clock was stepped back", 2 * ttl, -time.Hour},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, store *memory.Store) {
				clock := newClocks()
				c, d := start(t, store, "a", tenure.WithClock(clock.read))
				term, ok := c.Term()
				if !ok {
					t.Fatal("a does not lead")
				}
				clock.jump(test.mono, test.wall)
				if c.IsLeader() || term.Valid() {
					t.Error("the first answer after the pause was yes")
				}
				clock.jump(0, -test.wall)
				if c.IsLeader() || term.Valid() {
					t.Error("trust returned after it was refused")
				}
				synctest.Wait()
				if e, ok := d.find(tenure.EventEnded); !ok || !errors.Is(e.Err, tenure.ErrLeaseExpired) {
					t.Errorf("the end of the term was reported as %+v", e)
				}
				stop(t, c)
			})
		})
	}
}

// S4: nobody has to ask: the term's context ends soon after a suspension, although its timer stood still too.
func TestS4ContextEndsSoonAfterASuspension(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		clock := newClocks()
		store := &away{Store: inner}
		c, _ := candidate(t, store, "a", tenure.WithClock(clock.read))
		err := c.Run(t.Context(), func(ctx context.Context, term tenure.Term) error {
			if term.Token > 1 {
				return nil
			}
			store.hangs.Store(true)
			clock.jump(0, ttl)
			woken := time.Now()
			<-ctx.Done()
			if late := time.Since(woken); late > ttl/20 {
				t.Errorf("the context ended %v after waking", late)
			}
			store.hangs.Store(false)
			return nil
		})
		if err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

// A wall clock that is stepped back must not lengthen a lease (story 14).
func TestStory14WallClockSteppedBack(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		clock := newClocks()
		store := &away{Store: inner}
		c, _ := start(t, store, "a", tenure.WithClock(clock.read))
		store.hangs.Store(true)
		clock.jump(0, -time.Hour)
		time.Sleep(trust)
		expectLeader(t, nil, c)
		store.hangs.Store(false)
		stop(t, c)
	})
}

// S8, story 5: work that ignores its context keeps its seat from being released, and its candidate from bidding.
func TestS8WorkThatOverruns(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a, d := candidate(t, store, "a")
		b, _ := candidate(t, store, "b")
		unblock := make(chan struct{})
		ended := make(chan error, 1)
		go func() {
			first := true
			ended <- a.Run(t.Context(), func(context.Context, tenure.Term) error {
				if first {
					first = false
					<-unblock
				}
				return nil
			})
		}()
		synctest.Wait()
		if err := b.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := a.Resign(context.Background()); !errors.Is(err, tenure.ErrOverran) {
			t.Errorf("Resign = %v", err)
		}
		if r := record(t, store); r.Leader != "a" {
			t.Errorf("the seat was released: %+v", r)
		}
		synctest.Wait()
		if d.count(tenure.EventOverran) != 1 || d.count(tenure.EventReleased) != 0 {
			t.Errorf("events: %+v", d.events)
		}
		time.Sleep(ttl)
		expectLeader(t, b, a)
		stop(t, b)
		time.Sleep(time.Hour)
		if r := record(t, store); !r.Vacant() {
			t.Errorf("a bid although its work has not returned: %+v", r)
		}
		close(unblock)
		if err := <-ended; err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

// workThatHangs occupies a leader with work that ignores its context, until unblock is closed.
func workThatHangs(c *tenure.Candidate) (unblock chan<- struct{}) {
	hang := make(chan struct{})
	go func() {
		_, _ = c.RunIfLeader(context.Background(), func(context.Context, tenure.Term) error { <-hang; return nil })
	}()
	synctest.Wait()
	return hang
}

func TestS8StopWithWorkThatOverruns(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		c, _ := start(t, store, "a")
		unblock := workThatHangs(c)
		began := time.Now()
		if err := c.Stop(context.Background()); !errors.Is(err, tenure.ErrOverran) {
			t.Errorf("Stop = %v", err)
		}
		if waited := time.Since(began); waited != drain {
			t.Errorf("Stop waited %v, want the drain of %v", waited, drain)
		}
		if r := record(t, store); r.Leader != "a" {
			t.Errorf("the seat was released: %+v", r)
		}
		if err := c.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * ttl)
		if expectLeader(t, nil, c); c.Status().State != tenure.StateOverrun {
			t.Errorf("state = %v", c.Status().State)
		}
		close(unblock)
		synctest.Wait()
		expectLeader(t, c)
		stop(t, c)
	})
}

// Work that returned while its candidate was stopped must not keep it from standing for ever.
func TestS8WorkReturnsBetweenStopAndStart(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		c, _ := start(t, store, "a")
		unblock := workThatHangs(c)
		if err := c.Stop(context.Background()); !errors.Is(err, tenure.ErrOverran) {
			t.Errorf("Stop = %v", err)
		}
		close(unblock)
		synctest.Wait()
		if err := c.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		expectLeader(t, c)
		stop(t, c)
	})
}

// S6, story 2: a session tells processes with one ID apart.
func TestS6TwoProcessesWithOneID(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a, _ := start(t, store, "same")
		b, _ := start(t, store, "same")
		for range 100 {
			time.Sleep(ttl / 7)
			if expectLeader(t, a, b); t.Failed() {
				break
			}
		}
		stop(t, a)
		synctest.Wait()
		expectLeader(t, b, a)
		stop(t, b)
	})
}

// S9: a follower waits for the TTL in the record, not for its own.
func TestS9RecordedTTLCounts(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		store := &away{Store: inner}
		a, _ := start(t, store, "a", tenure.WithTTL(time.Minute))
		elected := time.Now()
		b, _ := start(t, inner, "b", tenure.WithTTL(time.Second))
		store.hangs.Store(true)
		for b.Status().State != tenure.StateLeader {
			time.Sleep(100 * time.Millisecond)
		}
		if waited := time.Since(elected); waited < time.Minute {
			t.Errorf("b led %v after the last sign of a", waited)
		}
		store.hangs.Store(false)
		stop(t, a, b)
	})
}

// S13: a record that was deleted by hand is held for a lease, and its token does not fall.
func TestS13VanishedRecordIsHeld(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a, _ := start(t, &away{Store: store}, "a")
		b, _ := start(t, store, "b")
		time.Sleep(time.Minute)
		store.Delete(name)
		for range 1000 {
			time.Sleep(ttl / 100)
			if a.IsLeader() && b.IsLeader() {
				t.Fatal("two lead after the record was deleted")
			}
		}
		time.Sleep(ttl)
		if r := record(t, store); r.Token <= 1 || r.Vacant() {
			t.Errorf("after the record was deleted: %+v", r)
		}
		stop(t, a, b)
	})
}

// L2: a crash is followed within the TTL, with its margin, and two round trips where the store pushes.
func TestL2CrashIsFollowed(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		store := &away{Store: inner}
		a, _ := start(t, store, "a")
		b, d := start(t, inner, "b")
		store.hangs.Store(true)
		crashed := time.Now()
		time.Sleep(wait + time.Millisecond)
		expectLeader(t, b, a)
		if e, _ := d.find(tenure.EventElected); e.At.Sub(crashed) > wait {
			t.Errorf("b led %v after the crash", e.At.Sub(crashed))
		}
		store.hangs.Store(false)
		stop(t, a, b)
	})
}

// L3, L4: an outage shorter than the lease changes nothing; after a longer one everybody stands again by itself.
func TestL3L4Outage(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		store := &away{Store: inner}
		a, da := start(t, store, "a")
		b, db := start(t, store, "b")
		time.Sleep(time.Minute)
		store.down.Store(true)
		time.Sleep(trust - ttl/3 - ttl/5) // at worst it begins when a renewal is due, and ends between two tries
		store.down.Store(false)
		time.Sleep(time.Minute)
		expectLeader(t, a, b)
		if da.count(tenure.EventEnded) != 0 {
			t.Error("a short outage ended the term")
		}
		store.down.Store(true)
		time.Sleep(time.Hour)
		expectLeader(t, nil, a, b)
		calls := store.calls.Load()
		time.Sleep(time.Hour)
		if n := store.calls.Load() - calls; n > 2*3600/int64(ttl/2/2/time.Second) {
			t.Errorf("%d calls in an hour to a store that is down", n)
		}
		store.down.Store(false)
		time.Sleep(2 * ttl)
		if da.count(tenure.EventElected)+db.count(tenure.EventElected) != 2 || a.IsLeader() == b.IsLeader() {
			t.Errorf("after the outage: a leads %v, b leads %v", a.IsLeader(), b.IsLeader())
		}
		stop(t, a, b)
	})
}

func TestMaxFailuresEndATermEarly(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		store := &away{Store: inner}
		a, d := start(t, store, "a", tenure.WithMaxFailures(2))
		store.down.Store(true)
		time.Sleep(ttl / 2)
		expectLeader(t, nil, a)
		if e, ok := d.find(tenure.EventEnded); !ok || !errors.Is(e.Err, tenure.ErrUnhealthy) {
			t.Errorf("the end of the term was reported as %+v", e)
		}
		store.down.Store(false)
		stop(t, a)
	})
}
