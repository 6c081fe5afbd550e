package tenuretest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

// recorder is the reporter of checks that may fail.
type recorder struct {
	ctx      context.Context
	failure  string
	cleanups []func()
}

func (r *recorder) Helper()                  {}
func (r *recorder) Context() context.Context { return r.ctx }
func (r *recorder) Cleanup(f func())         { r.cleanups = append(r.cleanups, f) }

func (r *recorder) Fatalf(format string, args ...any) {
	r.failure = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// subject is a store on trial and what else the kit is given.
type subject struct {
	store  tenure.Store
	second tenure.Store
	remove func(string)
}

// judge checks one rule, if it applies, and returns the failure, empty if there is none.
func judge(ctx context.Context, rule rule, s subject) (failure string) {
	ctx, cancel := context.WithCancel(ctx)
	r := &recorder{ctx: ctx}
	c := &trial{reporter: r, rule: rule, store: s.store, remove: s.remove}
	if s.second != nil {
		c.second = func() tenure.Store { return s.second }
	}
	if c.lack() != "" {
		cancel()
		return ""
	}
	<-start(c.check)
	cancel()
	for _, cleanup := range slices.Backward(r.cleanups) {
		cleanup()
	}
	return r.failure
}

// verdicts checks all rules in a bubble, where the limits of the kit pass at once, each on a subject of its own.
func verdicts(t *testing.T, open func() subject) map[string]string {
	failures := make(map[string]string)
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		for _, rule := range rules {
			if failure := judge(t.Context(), rule, open()); failure != "" {
				failures[rule.id] = failure
			}
		}
		time.Sleep(24 * time.Hour) // what a broken store left hanging ends by then
	})
	return failures
}

// sound returns a subject that breaks no rule, and to which every rule but TTL-UNIT applies.
func sound() (*memory.Store, subject) {
	store := memory.New()
	return store, subject{store, store, store.Delete}
}

func TestBrokenStores(t *testing.T) {
	for _, b := range brokenStores {
		t.Run(b.rule+"/"+strings.ReplaceAll(b.fault, " ", "-"), func(t *testing.T) {
			failures := verdicts(t, func() subject {
				store, subject := sound()
				b.breaks(store, &subject)
				return subject
			})
			for _, id := range append(b.also, b.rule) {
				if !strings.HasPrefix(failures[id], id+": "+text(id)) {
					t.Errorf("a store that %s did not fail on %s, with the rule's text: %q", b.fault, id, failures[id])
				}
				delete(failures, id)
			}
			for _, failure := range failures {
				if !b.ruin {
					t.Errorf("a store that %s failed elsewhere too: %s", b.fault, failure)
				}
			}
		})
	}
}

func text(id string) string {
	i := slices.IndexFunc(rules, func(r rule) bool { return r.id == id })
	return rules[i].text
}

func TestEveryRuleHasABrokenStore(t *testing.T) {
	for _, rule := range rules {
		if !slices.ContainsFunc(brokenStores, func(b brokenStore) bool { return b.rule == rule.id && !b.ruin }) {
			t.Errorf("no broken store shows that the check of %s can fail by itself", rule.id)
		}
	}
}

func TestSoundStores(t *testing.T) {
	for name, open := range map[string]func(*memory.Store) tenure.Store{
		"memory": func(store *memory.Store) tenure.Store { return store },
		"plain":  func(store *memory.Store) tenure.Store { return struct{ tenure.Store }{store} },
		"coarse": func(store *memory.Store) tenure.Store { return coarse{store} },
		"faulty": func(store *memory.Store) tenure.Store { return NewFaulty(store) },
		"slow":   func(store *memory.Store) tenure.Store { return slow{store, make(chan struct{}, 1)} },
		"busy":   func(store *memory.Store) tenure.Store { return &busy{Store: store} },
	} {
		t.Run(name, func(t *testing.T) {
			for _, failure := range verdicts(t, func() subject {
				store := memory.New()
				return subject{open(store), open(store), store.Delete}
			}) {
				t.Error(failure)
			}
		})
	}
}

// coarse holds TTLs of whole minutes only.
type coarse struct{ *memory.Store }

func (coarse) TTLUnit() time.Duration { return time.Minute }

func (s coarse) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	record.TTL = record.TTL.Truncate(time.Minute)
	return s.Store.CompareAndSwap(ctx, election, old, record)
}

// slow writes one record at a time, each for so long that a crowd takes minutes, and no call of it more than seconds.
type slow struct {
	*memory.Store
	turn chan struct{}
}

func (s slow) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	time.Sleep(time.Second)
	return s.Store.CompareAndSwap(ctx, election, old, record)
}

// busy refuses every other call, and may be asked again.
type busy struct {
	*memory.Store
	calls atomic.Uint64
}

func (s *busy) refuses() error {
	if s.calls.Add(1)%2 == 0 {
		return nil
	}
	return tenure.NotApplied(errors.New("somebody else writes"), 0)
}

func (s *busy) Load(ctx context.Context, election string) (tenure.Snapshot, error) {
	if err := s.refuses(); err != nil {
		return tenure.Snapshot{}, err
	}
	return s.Store.Load(ctx, election)
}

func (s *busy) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	if err := s.refuses(); err != nil {
		return tenure.Snapshot{}, err
	}
	return s.Store.CompareAndSwap(ctx, election, old, record)
}

func (s *busy) List(ctx context.Context) ([]string, error) {
	if err := s.refuses(); err != nil {
		return nil, err
	}
	return s.Store.List(ctx)
}

func (s *busy) Prune(ctx context.Context, unused time.Duration) ([]string, error) {
	if err := s.refuses(); err != nil {
		return nil, err
	}
	return s.Store.Prune(ctx, unused)
}

func (s *busy) Guarantee(ctx context.Context) (tenure.Guarantee, error) {
	if err := s.refuses(); err != nil {
		return tenure.Guarantee{}, err
	}
	return s.Store.Guarantee(ctx)
}
