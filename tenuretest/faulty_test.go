package tenuretest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

// bench is a faulty store in a bubble, with the sound one under it.
type bench struct {
	*testing.T
	store  *memory.Store
	faulty Faulty
}

func onBench(t *testing.T, test func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		test(&bench{T: t, store: store, faulty: NewFaulty(store)})
	})
}

// write makes the next renewal of "e" through the store and returns its version.
func (b *bench) write(store tenure.Store) tenure.Version {
	b.Helper()
	now := current(b.store, "e")
	next := now.Record
	next.Renewals++
	written, err := store.CompareAndSwap(b.Context(), "e", now.Version, next)
	if err != nil {
		b.Fatalf("CompareAndSwap: %v", err)
	}
	return written.Version
}

// swap tries to make the next renewal through the faulty store.
func (b *bench) swap(ctx context.Context) error {
	now := current(b.store, "e")
	now.Record.Renewals++
	_, err := b.faulty.CompareAndSwap(ctx, "e", now.Version, now.Record)
	return err
}

func (b *bench) load(ctx context.Context) error {
	_, err := b.faulty.Load(ctx, "e")
	return err
}

// renewals returns how often the record has been written.
func (b *bench) renewals() int { return int(current(b.store, "e").Record.Renewals) }

func (b *bench) wantRenewals(want int) {
	b.Helper()
	if got := b.renewals(); got != want {
		b.Fatalf("the store has seen %d writes, want %d", got, want)
	}
}

func (b *bench) wantErr(got, want error) {
	b.Helper()
	if !errors.Is(got, want) {
		b.Fatalf("got the error %v, want %v", got, want)
	}
}

// within returns a context that ends after d.
func (b *bench) within(d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(b.Context(), d)
	b.Cleanup(cancel)
	return ctx
}

// going starts call and returns its error, once it has returned.
func going(call func() error) <-chan error {
	result := make(chan error, 1)
	go func() { result <- call() }()
	return result
}

func (b *bench) wantPending(want int) {
	b.Helper()
	synctest.Wait()
	if got := b.faulty.Calls().Swap.Pending; got != want {
		b.Fatalf("%d swaps are pending, want %d", got, want)
	}
}

func TestLoseRequest(t *testing.T) {
	onBench(t, func(b *bench) {
		b.faulty.Inject(LoseRequest())
		b.wantErr(b.swap(b.Context()), ErrLost)
		b.wantErr(b.load(b.Context()), ErrLost)
		b.wantRenewals(0)
		b.faulty.Heal()
		b.wantErr(b.swap(b.Context()), nil)
		b.wantRenewals(1)
	})
}

func TestLoseReply(t *testing.T) {
	onBench(t, func(b *bench) {
		b.faulty.Inject(LoseReply())
		b.wantErr(b.swap(b.Context()), ErrLost)
		b.wantRenewals(1)
		_, err := b.faulty.CompareAndSwap(b.Context(), "e", "", tenure.Record{})
		b.wantErr(err, ErrLost) // a conflict is lost as well
		if errors.Is(err, tenure.ErrConflict) {
			t.Fatalf("the lost conflict shows in %v", err)
		}
	})
}

func TestDelayReply(t *testing.T) {
	onBench(t, func(b *bench) {
		b.faulty.Inject(DelayReply(3 * time.Second))
		start := time.Now()
		swap := going(func() error { return b.swap(b.Context()) })
		synctest.Wait()
		b.wantRenewals(1)
		b.wantErr(<-swap, nil)
		if took := time.Since(start); took != 3*time.Second {
			t.Fatalf("the reply took %v", took)
		}
		b.wantErr(b.swap(b.within(time.Second)), context.DeadlineExceeded)
		b.wantRenewals(2)
	})
}

func TestDelayReplyUntilHealed(t *testing.T) {
	onBench(t, func(b *bench) {
		heal := b.faulty.Inject(DelayReply(UntilHealed).On(OpSwap).Times(1))
		swap := going(func() error { return b.swap(b.Context()) })
		time.Sleep(1000 * time.Hour)
		b.wantPending(1)
		b.wantErr(b.swap(b.Context()), nil) // only the first is held
		heal()
		b.wantErr(<-swap, nil)
		b.wantPending(0)
	})
}

func TestDelayRequest(t *testing.T) {
	onBench(t, func(b *bench) {
		b.write(b.store)
		b.faulty.Inject(DelayRequest(3 * time.Second).On(OpSwap).Times(2))
		start := time.Now()
		b.wantErr(b.swap(b.Context()), nil)
		if took := time.Since(start); took != 3*time.Second {
			t.Fatalf("the call took %v", took)
		}
		b.wantErr(b.swap(b.within(time.Second)), context.DeadlineExceeded)
		b.wantRenewals(2) // the caller has gone, and a load does not show it yet ...
		time.Sleep(2 * time.Second)
		synctest.Wait()
		b.wantRenewals(3) // ... but it lands
	})
}

func TestDelayRequestIsOvertaken(t *testing.T) {
	onBench(t, func(b *bench) {
		heal := b.faulty.Inject(DelayRequest(UntilHealed).Times(1))
		first := going(func() error { return b.swap(b.Context()) })
		b.wantPending(1)
		b.wantErr(b.swap(b.Context()), nil)
		heal()
		b.wantErr(<-first, tenure.ErrConflict)
		b.wantRenewals(1)
	})
}

func TestRepeat(t *testing.T) {
	onBench(t, func(b *bench) {
		b.faulty.Inject(Repeat().Times(1))
		b.wantErr(b.load(b.Context()), nil) // not about loads, so not used up
		b.wantErr(b.swap(b.Context()), tenure.ErrConflict)
		b.wantRenewals(1)
		b.wantErr(b.swap(b.Context()), nil)
		b.wantRenewals(2)
	})
}

func TestFail(t *testing.T) {
	onBench(t, func(b *bench) {
		b.faulty.Inject(Fail(tenure.NotApplied(errors.New("throttled"), time.Minute)).Times(2))
		for range 2 {
			err := b.swap(b.Context())
			b.wantErr(err, tenure.ErrNotApplied)
			if wait := tenure.RetryAfter(err); wait != time.Minute {
				t.Fatalf("retry after %v", wait)
			}
		}
		b.wantErr(b.swap(b.Context()), nil)
		b.wantRenewals(1)
	})
}

func TestOnNarrows(t *testing.T) {
	onBench(t, func(b *bench) {
		b.write(b.faulty)
		b.faulty.Inject(LoseRequest().On(OpLoad), Stale().On(OpSwap), Repeat().On(OpLoad|OpWatch))
		b.wantErr(b.load(b.Context()), ErrLost)
		b.wantErr(b.swap(b.Context()), nil)
		b.wantRenewals(2)
	})
}

func TestFor(t *testing.T) {
	onBench(t, func(b *bench) {
		b.faulty.Inject(LoseRequest().For(time.Minute))
		time.Sleep(time.Minute - time.Nanosecond)
		b.wantErr(b.swap(b.Context()), ErrLost)
		time.Sleep(2 * time.Nanosecond)
		b.wantErr(b.swap(b.Context()), nil)
	})
}

func TestFreeze(t *testing.T) {
	onBench(t, func(b *bench) {
		b.faulty.Inject(Freeze())
		b.wantErr(b.swap(b.within(time.Hour)), context.DeadlineExceeded)
		swap := going(func() error { return b.swap(b.Context()) })
		b.wantPending(1)
		b.wantRenewals(0)
		b.faulty.Heal()
		b.wantErr(<-swap, nil)
		b.wantRenewals(1) // the one whose caller gave up never lands
	})
}

func TestFreezeHoldsDeliveries(t *testing.T) {
	onBench(t, func(b *bench) {
		box := b.watch()
		thaw := b.faulty.Inject(Freeze())
		b.write(b.store)
		last := b.write(b.store)
		b.wantVersions(box, "")
		thaw()
		b.wantVersions(box, "", last)

		thaw = b.faulty.Inject(Freeze().On(OpSwap))
		later := b.write(b.store)
		b.wantVersions(box, "", last, later) // not about watches
		thaw()
		b.wantVersions(box, "", last, later)
	})
}

func TestStale(t *testing.T) {
	onBench(t, func(b *bench) {
		first := b.write(b.faulty)
		b.faulty.Inject(Stale())
		second := b.write(b.faulty)
		third := b.write(b.store)
		for range 2 {
			got, err := b.faulty.Load(b.Context(), "e")
			b.wantErr(err, nil)
			if got.Version != first {
				t.Fatalf("loaded Version %q of %q", got.Version, []tenure.Version{first, second, third})
			}
			got.Record.Extra = nil
		}
		b.faulty.Heal()
		if got, _ := b.faulty.Load(b.Context(), "e"); got.Version != third {
			t.Fatalf("loaded Version %q after it was healed, want %q", got.Version, third)
		}
	})
}

func TestStaleKnowsDeliveries(t *testing.T) {
	onBench(t, func(b *bench) {
		b.watch()
		delivered := b.write(b.store)
		synctest.Wait()
		b.faulty.Inject(Stale())
		b.write(b.store)
		synctest.Wait()
		if got, _ := b.faulty.Load(b.Context(), "e"); got.Version != delivered {
			t.Fatalf("loaded Version %q, want the one delivered before, %q", got.Version, delivered)
		}
	})
}

// TestNothingIsShared changes every record that it gets.
func TestNothingIsShared(t *testing.T) {
	onBench(t, func(b *bench) {
		scribbles := func(got tenure.Snapshot, err error) {
			if err == nil && got.Exists() && got.Record.Metadata["zone"] != "north" {
				t.Errorf("the zone is %q", got.Record.Metadata["zone"])
			}
			scribble(got.Record)
		}
		record := tenure.Record{Metadata: map[string]string{"zone": "north"}}
		heal := b.faulty.Inject(DelayRequest(time.Second))
		written := going(func() error {
			_, err := b.faulty.CompareAndSwap(b.Context(), "e", "", record)
			return err
		})
		synctest.Wait()
		scribble(record)
		b.wantErr(<-written, nil)
		heal()
		_, err := b.faulty.(tenure.Watcher).Watch(b.Context(), "e", scribbles)
		b.wantErr(err, nil)
		synctest.Wait()
		for range 2 {
			b.faulty.Inject(Interrupt(ErrLost))()
			scribbles(b.faulty.Load(b.Context(), "e"))
		}
		b.faulty.Inject(Stale())
		for range 2 {
			scribbles(b.faulty.Load(b.Context(), "e"))
		}
	})
}

func TestStaleWithoutPast(t *testing.T) {
	onBench(t, func(b *bench) {
		first := b.write(b.store)
		b.faulty.Inject(Stale())
		b.wantErr(b.load(b.Context()), nil)
		b.write(b.store)
		if got, _ := b.faulty.Load(b.Context(), "e"); got.Version != first {
			t.Fatalf("loaded Version %q, want what the first Load found, %q", got.Version, first)
		}
	})
}

// watch begins to watch "e" through the faulty store, and waits for its first delivery.
func (b *bench) watch() *inbox {
	b.Helper()
	box := newInbox()
	stop, err := b.faulty.(tenure.Watcher).Watch(b.Context(), "e", box.deliver)
	b.wantErr(err, nil)
	box.stop = stop
	synctest.Wait()
	return box
}

func (b *bench) wantVersions(box *inbox, want ...tenure.Version) {
	b.Helper()
	synctest.Wait()
	var got []tenure.Version
	for _, snapshot := range box.all() {
		got = append(got, snapshot.Version)
	}
	if !slices.Equal(got, want) {
		b.Fatalf("delivered were %q, want %q", got, want)
	}
}

func TestSilence(t *testing.T) {
	onBench(t, func(b *bench) {
		box := b.watch()
		heal := b.faulty.Inject(Silence())
		b.write(b.store)
		b.wantVersions(box, "")
		heal()
		b.wantVersions(box, "")
		last := b.write(b.store)
		b.wantVersions(box, "", last)

		b.faulty.Inject(Silence().Times(2))
		for range 2 {
			b.write(b.store)
			b.wantVersions(box, "", last)
		}
		b.wantVersions(box, "", last, b.write(b.store))
	})
}

func TestInterrupt(t *testing.T) {
	onBench(t, func(b *bench) {
		cut := errors.New("connection reset")
		quiet, busy := b.watch(), b.watch()
		heal := b.faulty.Inject(Interrupt(cut))
		for _, box := range []*inbox{quiet, busy} {
			if got := box.interruptions; len(got) != 1 || !errors.Is(got[0], cut) {
				t.Fatalf("the interruptions are %v", got)
			}
		}
		quiet.stop()
		last := b.write(b.store)
		later := b.watch()
		b.wantVersions(busy, "")
		b.wantVersions(later)
		heal()
		b.wantVersions(quiet, "")
		b.wantVersions(busy, "", last)
		b.wantVersions(later, last)
	})
}

// TestInterruptAfterStop stops a watch while an interruption is on its way to it.
func TestInterruptAfterStop(t *testing.T) {
	onBench(t, func(b *bench) {
		quiet := make(chan struct{})
		_, err := b.faulty.(tenure.Watcher).Watch(b.Context(), "e", func(_ tenure.Snapshot, err error) {
			if err != nil {
				<-quiet
			}
		})
		b.wantErr(err, nil)
		box := b.watch()
		go b.faulty.Inject(Interrupt(ErrLost))
		synctest.Wait()
		box.stop()
		close(quiet)
		synctest.Wait()
		if len(box.interruptions) != 0 {
			t.Fatal("an interruption was delivered after stop")
		}
	})
}

func TestInterruptWithoutChange(t *testing.T) {
	onBench(t, func(b *bench) {
		box := b.watch()
		b.faulty.Inject(Interrupt(errors.New("connection reset")).For(time.Second))
		time.Sleep(2 * time.Second)
		b.wantVersions(box, "", "") // the state of the missing record, once more
	})
}

func TestWatchThatIsNotSetUp(t *testing.T) {
	for name, fault := range map[string]Fault{
		"request lost":  LoseRequest(),
		"reply lost":    LoseReply(),
		"reply late":    DelayReply(UntilHealed),
		"request late":  DelayRequest(UntilHealed),
		"store stopped": Freeze(),
	} {
		t.Run(name, func(t *testing.T) {
			onBench(t, func(b *bench) {
				heal := b.faulty.Inject(fault)
				returned := false
				stop, err := b.faulty.(tenure.Watcher).Watch(b.within(time.Second), "e", func(tenure.Snapshot, error) {
					if returned {
						t.Error("a watch that failed delivers")
					}
				})
				if returned = true; err == nil || stop != nil {
					t.Fatalf("Watch returned the error %v", err)
				}
				heal()
				synctest.Wait()
				b.write(b.store)
				synctest.Wait()
			})
		})
	}
}

func TestWatchThatTheStoreRefuses(t *testing.T) {
	onBench(t, func(b *bench) {
		b.store.Close()
		_, err := b.faulty.(tenure.Watcher).Watch(b.Context(), "e", func(tenure.Snapshot, error) {})
		b.wantErr(err, tenure.ErrPermanent)
		b.faulty.Inject(Interrupt(ErrLost)) // reaches no watch
		if n := b.faulty.Calls().Deliveries; n != 0 {
			t.Fatalf("%d deliveries", n)
		}
	})
}

func TestSeveralFaults(t *testing.T) {
	onBench(t, func(b *bench) {
		heal := b.faulty.Inject(DelayReply(time.Second), Repeat(), LoseReply().Times(1))
		start := time.Now()
		b.wantErr(b.swap(b.Context()), tenure.ErrConflict) // sent, lost, repeated, late
		if took := time.Since(start); took != time.Second {
			t.Fatalf("the reply took %v", took)
		}
		heal()
		heal() // once is enough
		b.wantErr(b.swap(b.Context()), nil)

		b.faulty.Inject(LoseRequest().Times(1))
		b.faulty.Inject(Fail(tenure.Permanent(errors.New("no"))).Times(1))
		b.wantErr(b.swap(b.Context()), ErrLost)
		b.wantErr(b.swap(b.Context()), tenure.ErrPermanent) // not used up by a call that never got there
		b.wantErr(b.swap(b.Context()), nil)
	})
}

func TestHealReleasesPendingCalls(t *testing.T) {
	onBench(t, func(b *bench) {
		b.faulty.Inject(Freeze(), LoseReply())
		swap := going(func() error { return b.swap(b.Context()) })
		b.wantPending(1)
		b.faulty.Inject(LoseRequest()) // after the call began
		b.faulty.Heal()
		b.wantErr(<-swap, nil)
	})
}

func TestEndedContextMeetsNoFault(t *testing.T) {
	onBench(t, func(b *bench) {
		b.faulty.Inject(LoseRequest().Times(1))
		ended, cancel := context.WithCancel(b.Context())
		cancel()
		b.wantErr(b.swap(ended), context.Canceled)
		b.wantErr(b.swap(b.Context()), ErrLost)
	})
}

func TestCalls(t *testing.T) {
	onBench(t, func(b *bench) {
		box := b.watch()
		b.wantErr(b.swap(b.Context()), nil)
		for _, fault := range []Fault{
			LoseReply(), Repeat(), Fail(tenure.NotApplied(errors.New("busy"), 0)),
			Fail(tenure.Permanent(errors.New("denied"))),
		} {
			b.faulty.Inject(fault.Times(1))
			if b.swap(b.Context()) == nil {
				t.Fatal("a fault had no effect")
			}
		}
		b.wantErr(b.load(b.Context()), nil)
		b.faulty.Inject(Freeze().On(OpSwap).Times(1))
		swap := going(func() error { return b.swap(b.Context()) })
		synctest.Wait()
		_, _ = b.faulty.(tenure.Lister).List(b.Context())
		_, _ = b.faulty.(tenure.Pruner).Prune(b.Context(), time.Hour)
		_, _ = b.faulty.(tenure.Guarantor).Guarantee(b.Context())

		done := Tally{Done: 1}
		want := Calls{
			Load: done, Watch: done, List: done, Prune: done, Guarantee: done,
			Swap:       Tally{Pending: 1, Done: 1, Conflict: 1, NotApplied: 1, Permanent: 1, Failed: 1},
			Deliveries: len(box.all()),
		}
		if got := b.faulty.Calls(); got != want {
			t.Errorf("Calls returned %+v, want %+v", got, want)
		}
		if got := want.Swap.Total(); got != 6 {
			t.Errorf("the total is %d", got)
		}
		b.faulty.Heal()
		b.wantErr(<-swap, nil)
	})
}

func TestFaultyHasTheInterfacesOfItsStore(t *testing.T) {
	store := memory.New()
	type s = tenure.Store
	type w = tenure.Watcher
	type l = tenure.Lister
	type p = tenure.Pruner
	for _, inner := range []tenure.Store{
		struct{ s }{store},
		struct {
			s
			w
		}{store, store},
		struct {
			s
			l
		}{store, store},
		struct {
			s
			p
		}{store, store},
		struct {
			s
			w
			l
		}{store, store, store},
		struct {
			s
			w
			p
		}{store, store, store},
		struct {
			s
			l
			p
		}{store, store, store},
		store,
	} {
		if got, want := optional(NewFaulty(inner)), optional(inner); got != want {
			t.Errorf("around a %T with %v there is a Faulty with %v", inner, want, got)
		}
	}
}

// optional reports which optional interfaces a store has whose absence means something of its own.
func optional(store tenure.Store) [3]bool {
	_, watches := store.(tenure.Watcher)
	_, lists := store.(tenure.Lister)
	_, prunes := store.(tenure.Pruner)
	return [3]bool{watches, lists, prunes}
}

func TestFaultyAnswersForPlainStores(t *testing.T) {
	faulty := NewFaulty(struct{ tenure.Store }{memory.New()})
	guarantee, err := faulty.(tenure.Guarantor).Guarantee(t.Context())
	if err != nil || guarantee.Grade != tenure.GradeUnknown {
		t.Errorf("the grade is %v, the error %v", guarantee.Grade, err)
	}
	if unit := faulty.(tenure.TTLUnit).TTLUnit(); unit != time.Millisecond {
		t.Errorf("the unit is %v", unit)
	}
	if unit := NewFaulty(coarse{memory.New()}).(tenure.TTLUnit).TTLUnit(); unit != time.Minute {
		t.Errorf("the unit of a coarse store is %v", unit)
	}
}
