package probe

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

// broken is a store that breaks one rule.
type broken struct {
	*memory.Store
	swap func(ctx context.Context, s *memory.Store, old tenure.Version, r tenure.Record) (tenure.Snapshot, error)
	load func(tenure.Snapshot) tenure.Snapshot
}

const election = "probe"

func (b broken) CompareAndSwap(
	ctx context.Context, name string, old tenure.Version, r tenure.Record,
) (tenure.Snapshot, error) {
	if b.swap == nil {
		return b.Store.CompareAndSwap(ctx, name, old, r)
	}
	return b.swap(ctx, b.Store, old, r)
}

func (b broken) Load(ctx context.Context, name string) (tenure.Snapshot, error) {
	now, err := b.Store.Load(ctx, name)
	if b.load != nil && err == nil {
		now = b.load(now)
	}
	return now, err
}

// force writes without a condition.
func force(ctx context.Context, s *memory.Store, r tenure.Record) (tenure.Snapshot, error) {
	for {
		now, err := s.Load(ctx, election)
		if err != nil {
			return now, err
		}
		written, err := s.CompareAndSwap(ctx, election, now.Version, r)
		if !errors.Is(err, tenure.ErrConflict) {
			return written, err
		}
	}
}

// TestChecksFail: each check fails on a store that breaks its rule, and on no other.
func TestChecksFail(t *testing.T) {
	store := memory.New
	for _, c := range []struct {
		check string
		store broken
		other tenure.Store
	}{
		{check: "create", store: broken{Store: store(), swap: func(
			ctx context.Context, s *memory.Store, old tenure.Version, r tenure.Record,
		) (tenure.Snapshot, error) {
			if old == "" {
				return force(ctx, s, r)
			}
			return s.CompareAndSwap(ctx, election, old, r)
		}}},
		{check: "swap", store: broken{Store: store(), load: func(now tenure.Snapshot) tenure.Snapshot {
			now.Record.Extra = nil
			return now
		}}},
		{check: "stale-swap", store: broken{Store: store(), swap: func(
			ctx context.Context, s *memory.Store, old tenure.Version, r tenure.Record,
		) (tenure.Snapshot, error) {
			if old != "" {
				return force(ctx, s, r)
			}
			return s.CompareAndSwap(ctx, election, old, r)
		}}},
		{check: "version", store: broken{Store: store(), swap: func(
			ctx context.Context, s *memory.Store, old tenure.Version, r tenure.Record,
		) (tenure.Snapshot, error) {
			if now, err := s.Load(ctx, election); err == nil && now.Version == old && now.Record.Renewals == r.Renewals {
				return now, nil // as a store whose versions are digests of the content
			}
			return s.CompareAndSwap(ctx, election, old, r)
		}}},
		{check: "shared", store: broken{Store: store()}, other: store()},
		{check: "race", store: broken{Store: store(), swap: func(
			ctx context.Context, s *memory.Store, old tenure.Version, r tenure.Record,
		) (tenure.Snapshot, error) {
			now, err := s.Load(ctx, election)
			if err != nil {
				return now, err
			}
			if now.Version != old {
				return now, tenure.ErrConflict
			}
			for range 100 { // between the check and the write
				runtime.Gosched()
			}
			return force(ctx, s, r)
		}}},
	} {
		t.Run(c.check, func(t *testing.T) {
			p := &Probe{Store: c.store, Other: c.other, Election: election, Timeout: time.Minute}
			findings := swaps(t, p)
			last := findings[len(findings)-1]
			if last.Check != c.check || last.Result != Failed {
				t.Errorf("got %+v, want that %s fails", findings, c.check)
			}
		})
	}
}

func swaps(t *testing.T, p *Probe) []Finding {
	t.Helper()
	err := p.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	findings, err := p.Swaps(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return findings
}

func TestChecksPass(t *testing.T) {
	store := memory.New()
	p := &Probe{Store: store, Other: store, Election: election, Timeout: time.Minute}
	for range 2 { // the second time over what the first has left
		findings := swaps(t, p)
		if len(findings) != len(swapChecks) {
			t.Errorf("got %+v, want %d findings", findings, len(swapChecks))
		}
		for _, f := range findings {
			if f.Result != OK {
				t.Errorf("got %+v", f)
			}
		}
		if err := p.End(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if now, err := store.Load(t.Context(), election); err != nil || !now.Record.Forgotten {
		t.Errorf("got %+v, %v: want a forgotten record", now, err)
	}
}

func TestStrangersAreNoticed(t *testing.T) {
	store := memory.New()
	p := &Probe{Store: store, Election: election, Timeout: time.Minute}
	if err := p.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	stranger := &Probe{Store: store, Election: election, Timeout: time.Minute}
	if err := stranger.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if findings, err := p.Swaps(t.Context()); !errors.Is(err, ErrBusy) {
		t.Errorf("got %+v, %v: want %v", findings, err, ErrBusy)
	}
	if _, _, err := p.Latencies(t.Context(), 1); !errors.Is(err, ErrBusy) {
		t.Errorf("got %v, want %v", err, ErrBusy)
	}
}

func TestElectionInUseIsLeftAlone(t *testing.T) {
	store := memory.New()
	held := tenure.Record{Token: 3, Leader: "a", Session: "s", TTL: time.Second}
	written, err := store.CompareAndSwap(t.Context(), election, "", held)
	if err != nil {
		t.Fatal(err)
	}
	p := &Probe{Store: store, Election: election, Timeout: time.Minute}
	if err := p.Begin(t.Context()); err == nil || !strings.Contains(err.Error(), "is in use") {
		t.Errorf("got %v", err)
	}
	if now, err := store.Load(t.Context(), election); err != nil || now.Version != written.Version {
		t.Errorf("got %+v, %v: want it unchanged", now, err)
	}
}

// silent is a store whose watch says nothing after the first state.
type silent struct{ *memory.Store }

func (s silent) Watch(
	ctx context.Context, name string, deliver func(tenure.Snapshot, error),
) (stop func(), err error) {
	now, err := s.Load(ctx, name)
	deliver(now, err)
	return func() {}, nil
}

// mute is a store without any optional interface.
type mute struct{ tenure.Store }

func TestWatch(t *testing.T) {
	for _, c := range []struct {
		store   tenure.Store
		timeout time.Duration
		result  Result
	}{
		{memory.New(), time.Minute, OK}, {silent{memory.New()}, time.Second, Warning}, {mute{memory.New()}, time.Minute, Note},
	} {
		p := &Probe{Store: c.store, Election: election, Timeout: c.timeout}
		if err := p.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		if f, err := p.Watch(t.Context()); err != nil || f.Result != c.result {
			t.Errorf("%T: got %+v, %v: want %s", c.store, f, err, c.result)
		}
	}
}

func TestGrade(t *testing.T) {
	p := &Probe{Store: memory.New(), Timeout: time.Minute}
	if g, f, err := p.Grade(t.Context()); err != nil || f.Result != OK || g.Grade != tenure.GradeExclusive {
		t.Errorf("got %+v, %+v, %v", g, f, err)
	}
	p.Store = mute{p.Store}
	if g, f, err := p.Grade(t.Context()); err != nil || f.Result != Warning || g.Grade != tenure.GradeUnknown {
		t.Errorf("got %+v, %+v, %v", g, f, err)
	}
}

func TestDistribution(t *testing.T) {
	var samples []time.Duration
	for i := range 200 {
		samples = append(samples, time.Duration(200-i))
	}
	if got, want := distribution(samples), (Latency{200, 100, 198, 200}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got, want := distribution([]time.Duration{7}), (Latency{1, 7, 7, 7}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestRecommendTTL(t *testing.T) {
	for p99, want := range map[time.Duration]time.Duration{
		0: 2 * time.Second, 10 * time.Millisecond: 2 * time.Second, 50 * time.Millisecond: 3 * time.Second,
		51 * time.Millisecond: 4 * time.Second, time.Hour: tenure.MaxTTL,
	} {
		if got := RecommendTTL(Latency{P99: p99}); got != want {
			t.Errorf("p99 %v: got %v, want %v", p99, got, want)
		}
	}
}

func TestRound(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 123456: "123µs", 1234567: "1.23ms", 98765432: "98.8ms", 12345678901: "12.35s", 7: "7ns",
	} {
		if got := Round(d).String(); got != want {
			t.Errorf("%d: got %s, want %s", d, got, want)
		}
	}
}
