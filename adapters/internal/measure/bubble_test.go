package measure_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/adapters/internal/measure"
	"github.com/tenure-go/tenure/adapters/internal/measure/measuretest"
	"github.com/tenure-go/tenure/memory"
)

const (
	ttl  = measuretest.TTL
	name = measuretest.Election
)

// ledger is a sink that keeps sums by series, and counts of observations under the same name with "#".
type ledger struct {
	mu     sync.Mutex
	values map[string]float64
}

func series(id measure.ID, labels []string) string {
	m := measure.Metrics[id]
	pairs := make([]string, 0, len(labels))
	for i, value := range labels {
		pairs = append(pairs, m.Labels[i]+"="+value)
	}
	return m.Exposed() + "{" + strings.Join(pairs, ",") + "}"
}

func (l *ledger) add(series string, v float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.values[series] += v
}

func (l *ledger) Add(id measure.ID, n float64, labels ...string) { l.add(series(id, labels), n) }

func (l *ledger) Observe(id measure.ID, v float64, labels ...string) {
	l.add(series(id, labels), v)
	l.add("#"+series(id, labels), 1)
}

func (l *ledger) Begin(id measure.ID, labels ...string) { l.add("#"+series(id, labels), 0) }

func (l *ledger) Forget(id measure.ID, labels ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	prefix := strings.TrimSuffix(series(id, labels), "}")
	for s := range l.values {
		if strings.HasPrefix(strings.TrimPrefix(s, "#"), prefix) {
			delete(l.values, s)
		}
	}
}

// get returns the value of a series, zero if it is not known.
func (l *ledger) get(series string) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.values[series]
}

// reset makes series begin anew.
func (l *ledger) reset(series ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range series {
		l.values[s] = 0
	}
}

// known returns the names of all series.
func (l *ledger) known() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Keys(l.values))
}

func (l *ledger) expect(t *testing.T, series string, want float64) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	got, known := l.values[series]
	if !known || got < want-1e-6 || got > want+1e-6 {
		t.Errorf("%s is %v (known: %v), want %v", series, got, known, want)
	}
}

// bed is a store and a recorder, in a bubble.
type bed struct {
	*ledger
	store    *memory.Store
	recorder *measure.Recorder
}

func bubble(t *testing.T, test func(t *testing.T, b *bed)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{values: map[string]float64{}}
		b := &bed{l, memory.New(), measure.NewRecorder(l)}
		test(t, b)
		if err := b.store.Close(); err != nil {
			t.Error(err)
		}
	})
}

// start has a measured candidate stand.
func (b *bed) start(t *testing.T, store tenure.Store, id string, options ...tenure.Option) *tenure.Candidate {
	t.Helper()
	c := measuretest.Start(t, adapter{b.recorder}, store, id, options...)
	synctest.Wait()
	return c
}

// adapter is the least that an adapter does.
type adapter struct{ *measure.Recorder }

func (a adapter) Store(store tenure.Store) tenure.Store { return measure.Wrap(store, a.Recorder) }
func (a adapter) Observe() tenure.Option                { return tenure.WithObserver(a.Event) }

// gauge reads one gauge of a candidate, -1 if it has none.
func (b *bed) gauge(id measure.ID, candidate string) float64 {
	value := -1.0
	b.recorder.Gauges(func(got measure.ID, v float64, labels ...string) {
		if got == id && labels[1] == candidate {
			value = v
		}
	})
	return value
}

func (b *bed) expectGauge(t *testing.T, id measure.ID, candidate string, want float64) {
	t.Helper()
	if got := b.gauge(id, candidate); got < want-1e-6 || got > want+1e-6 {
		t.Errorf("%s of %s is %v, want %v", measure.Metrics[id].Name, candidate, got, want)
	}
}

// faulty is a store that pushes nothing and can be made to fail, or to be slow.
type faulty struct {
	tenure.Store
	fault   atomic.Pointer[error]
	delay   atomic.Int64
	revoked atomic.Bool
}

var errOutage = errors.New("the store is away")

func (f *faulty) fail(err error) { f.fault.Store(&err) }
func (f *faulty) heal()          { f.fault.Store(nil) }

func (f *faulty) before(ctx context.Context) error {
	select {
	case <-time.After(time.Duration(f.delay.Load())):
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := f.fault.Load(); err != nil {
		return *err
	}
	return nil
}

func (f *faulty) Load(ctx context.Context, election string) (tenure.Snapshot, error) {
	if err := f.before(ctx); err != nil {
		return tenure.Snapshot{}, err
	}
	s, err := f.Store.Load(ctx, election)
	s.Revoked = f.revoked.Load() && s.Record.Token == 1
	return s, err
}

func (f *faulty) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, r tenure.Record,
) (tenure.Snapshot, error) {
	if err := f.before(ctx); err != nil {
		return tenure.Snapshot{}, err
	}
	s, err := f.Store.CompareAndSwap(ctx, election, old, r)
	s.Revoked = f.revoked.Load() && s.Record.Token == 1
	return s, err
}

func of(metric, candidate string, more ...string) string {
	return fmt.Sprintf("%s{%s}", metric, strings.Join(append([]string{"election=" + name, "candidate=" + candidate}, more...), ","))
}
