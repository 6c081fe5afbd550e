package tenuretest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

// This file has the bugs of Load, CompareAndSwap, List and Prune that take more than a line; bugs_watch_test.go has
// those of Watch.

func readersVersion(store *memory.Store, s *subject) {
	s.all(&doctored{
		Store: store,
		load: func(r read) (tenure.Snapshot, error) {
			loaded, err := r.done()
			if loaded.Exists() {
				loaded.Version += "~"
			}
			return loaded, err
		},
		swap: func(w write) (tenure.Snapshot, error) {
			w.old = tenure.Version(strings.TrimSuffix(string(w.old), "~"))
			return w.done()
		},
	})
}

// lateColumn writes the address a moment later than the rest.
func lateColumn(store *memory.Store, s *subject) {
	var mu sync.Mutex
	replaced := make(map[tenure.Version]tenure.Record)
	written := make(map[tenure.Version]time.Time)
	s.all(&doctored{
		Store: store,
		load: func(r read) (tenure.Snapshot, error) {
			loaded, err := r.done()
			mu.Lock()
			defer mu.Unlock()
			before, ok := replaced[loaded.Version]
			if ok && time.Since(written[loaded.Version]) == 0 && loaded.Record.Address != "" {
				loaded.Record.Address = before.Address
			}
			return loaded, err
		},
		swap: func(w write) (tenure.Snapshot, error) {
			mu.Lock()
			defer mu.Unlock()
			before := w.current()
			next, err := w.done()
			if err == nil && before.Exists() {
				replaced[next.Version], written[next.Version] = before.Record, time.Now()
			}
			return next, err
		},
	})
}

func wantsLeader(w write) (tenure.Snapshot, error) {
	if w.old == "" && w.record.Vacant() {
		return tenure.Snapshot{}, tenure.Permanent(errors.New("leader must not be null"))
	}
	return w.done()
}

func takesVacantForNone(w write) (tenure.Snapshot, error) {
	if now := w.current(); w.old == "" && now.Record.Vacant() {
		w.old = now.Version
	}
	return w.done()
}

func mergesMetadata(w write) (tenure.Snapshot, error) {
	merged := make(map[string]string)
	maps.Copy(merged, w.current().Record.Metadata)
	maps.Copy(merged, w.record.Metadata)
	w.record.Metadata = merged
	return w.done()
}

func returnsReplaced(w write) (tenure.Snapshot, error) {
	before := w.current()
	next, err := w.done()
	next.Record = before.Record
	return next, err
}

func acceptsFirst(store *memory.Store, s *subject) {
	var first sync.Map
	swapping(func(w write) (tenure.Snapshot, error) {
		if version, ok := first.Load(w.election); ok && version == w.old {
			return w.forced()
		}
		next, err := w.done()
		if err == nil && w.old == "" {
			first.Store(w.election, next.Version)
		}
		return next, err
	})(store, s)
}

func acceptsUnknown(store *memory.Store, s *subject) {
	type state struct {
		election string
		version  tenure.Version
	}
	var mu sync.Mutex
	known := make(map[state]bool)
	swapping(func(w write) (tenure.Snapshot, error) {
		mu.Lock()
		defer mu.Unlock()
		if w.old != "" && !known[state{w.election, w.old}] && w.current().Exists() {
			return w.forced()
		}
		next, err := w.done()
		known[state{w.election, next.Version}] = true
		return next, err
	})(store, s)
}

func writesRefused(w write) (tenure.Snapshot, error) {
	next, err := w.done()
	if errors.Is(err, tenure.ErrConflict) {
		_, _ = w.forced()
	}
	return next, err
}

// twoSteps compares first and writes a moment later.
func twoSteps(of func(old tenure.Version) bool) breakage {
	return swapping(func(w write) (tenure.Snapshot, error) {
		if w.ctx.Err() != nil || !of(w.old) || w.current().Version != w.old {
			return w.done()
		}
		time.Sleep(time.Millisecond)
		return w.forced()
	})
}

// databaseIsLocked has one client fail whose writes meet. The other one is sound.
func databaseIsLocked(store *memory.Store, s *subject) {
	var writing sync.Map
	s.store = &doctored{Store: store, swap: func(w write) (tenure.Snapshot, error) {
		if _, busy := writing.LoadOrStore(w.election, true); busy && w.old != "" {
			return tenure.Snapshot{}, errors.New("database is locked")
		}
		defer writing.Delete(w.election)
		time.Sleep(time.Millisecond)
		return w.done()
	}}
}

func touchesChildren(w write) (tenure.Snapshot, error) {
	next, err := w.done()
	names, _ := w.store.List(context.Background())
	for _, name := range names {
		if err == nil && name != w.election && strings.HasPrefix(name, w.election) {
			_, _ = write{w.ctx, w.store, name, "", current(w.store, name).Record}.forced()
		}
	}
	return next, err
}

func reencodes(r *tenure.Record) {
	for name, text := range r.Extra {
		var value any
		if json.Unmarshal(text, &value) == nil {
			r.Extra[name], _ = json.Marshal(value)
		}
	}
}

func skipsEqual(w write) (tenure.Snapshot, error) {
	now := w.current()
	if w.ctx.Err() == nil && now.Exists() && now.Version == w.old && len(differences(now.Record, w.record)) == 0 {
		return now, nil
	}
	return w.done()
}

// renaming gives the versions of a memory store other names.
type renaming struct {
	*memory.Store
	name            func(last tenure.Version, record tenure.Record) tenure.Version
	restartsOnPrune bool

	mu    sync.Mutex
	last  map[string]tenure.Version
	names map[tenure.Version]tenure.Version
}

func renamed(store *memory.Store, name func(tenure.Version, tenure.Record) tenure.Version) *renaming {
	return &renaming{
		Store: store, name: name,
		last: make(map[string]tenure.Version), names: make(map[tenure.Version]tenure.Version),
	}
}

// fromContent tells only mere repetitions apart.
func fromContent(last tenure.Version, record tenure.Record) tenure.Version {
	text, _ := json.Marshal(record)
	if strings.HasPrefix(string(last), string(text)) {
		return last + "'"
	}
	return tenure.Version(text)
}

func fromCount(last tenure.Version, _ tenure.Record) tenure.Version {
	var count int
	_, _ = fmt.Sscan(string(last), &count)
	return tenure.Version(fmt.Sprint(count + 1))
}

func (n *renaming) restart() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.last)
}

func (n *renaming) rename(s tenure.Snapshot) tenure.Snapshot {
	n.mu.Lock()
	defer n.mu.Unlock()
	s.Version = n.names[s.Version]
	return s
}

func (n *renaming) Load(ctx context.Context, election string) (tenure.Snapshot, error) {
	loaded, err := n.Store.Load(ctx, election)
	return n.rename(loaded), err
}

func (n *renaming) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := current(n.Store, election)
	if n.names[now.Version] != old {
		return tenure.Snapshot{}, tenure.ErrConflict
	}
	next, err := n.Store.CompareAndSwap(ctx, election, now.Version, record)
	if err == nil {
		n.last[election] = n.name(n.last[election], record)
		n.names[next.Version] = n.last[election]
		next.Version = n.last[election]
	}
	return next, err
}

func (n *renaming) Watch(ctx context.Context, election string, deliver func(tenure.Snapshot, error)) (func(), error) {
	return n.Store.Watch(ctx, election, func(s tenure.Snapshot, err error) { deliver(n.rename(s), err) })
}

func (n *renaming) Prune(ctx context.Context, unused time.Duration) ([]string, error) {
	names, err := n.Store.Prune(ctx, unused)
	if n.restartsOnPrune {
		n.restart()
	}
	return names, err
}

func keepsMap(store *memory.Store, s *subject) {
	var kept sync.Map
	s.all(&doctored{
		Store: store,
		load: func(r read) (tenure.Snapshot, error) {
			loaded, err := r.done()
			if metadata, ok := kept.Load(loaded.Version); ok {
				loaded.Record.Metadata = maps.Clone(metadata.(map[string]string))
			}
			return loaded, err
		},
		swap: func(w write) (tenure.Snapshot, error) {
			next, err := w.done()
			kept.Store(next.Version, w.record.Metadata)
			return next, err
		},
	})
}

func handsOutCache(store *memory.Store, s *subject) {
	var cache sync.Map
	loading(func(r read) (tenure.Snapshot, error) {
		loaded, err := r.done()
		if loaded.Exists() {
			cached, _ := cache.LoadOrStore(loaded.Version, loaded)
			loaded = cached.(tenure.Snapshot)
		}
		return loaded, err
	})(store, s)
}

// writesLater answers a cancelled call as it should, and carries it out all the same when the next one comes.
func writesLater(store *memory.Store, s *subject) {
	var late func()
	swapping(func(w write) (tenure.Snapshot, error) {
		if w.ctx.Err() != nil {
			cancelled := w
			cancelled.ctx = context.WithoutCancel(w.ctx)
			late = func() { _, _ = cancelled.done() }
		} else if late != nil {
			late()
			late = nil
		}
		return w.done()
	})(store, s)
}

// looksOnce hangs in a call that is to end soon. One that has ended already, or has time, it answers.
func looksOnce(r read) (tenure.Snapshot, error) {
	if deadline, ok := r.ctx.Deadline(); ok && r.ctx.Err() == nil && time.Until(deadline) < time.Second {
		time.Sleep(time.Hour)
	}
	return r.done()
}

// keyedBy stores records under other names. Its List returns the names that the records were created by.
func keyedBy(key func(string) string) breakage {
	return func(store *memory.Store, s *subject) {
		var created sync.Map
		s.all(&doctored{
			Store: store,
			load: func(r read) (tenure.Snapshot, error) {
				r.election = key(r.election)
				return r.done()
			},
			swap: func(w write) (tenure.Snapshot, error) {
				created.LoadOrStore(key(w.election), w.election)
				w.election = key(w.election)
				return w.done()
			},
			watch: func(h hearing) (func(), error) {
				h.election = key(h.election)
				return h.done()
			},
			list: func(ctx context.Context) ([]string, error) {
				names, err := store.List(ctx)
				for i, name := range names {
					original, _ := created.Load(name)
					names[i] = original.(string)
				}
				slices.Sort(names)
				return names, err
			},
		})
	}
}

// cachesForever has a second client that loaded every record right before it was written for the first time.
func cachesForever(store *memory.Store, s *subject) {
	var cache sync.Map
	first := func(r read) (tenure.Snapshot, error) {
		loaded, err := r.done()
		cached, _ := cache.LoadOrStore(r.election, loaded)
		return cached.(tenure.Snapshot), err
	}
	s.second = &doctored{Store: store, load: first}
	s.store = &doctored{Store: store, swap: func(w write) (tenure.Snapshot, error) {
		_, _ = first(read{context.WithoutCancel(w.ctx), w.store, w.election})
		return w.done()
	}}
}

func locksLocally(store *memory.Store, s *subject) {
	client := func() tenure.Store {
		lock := make(chan struct{}, 1) // no mutex: one that is waited for stops the bubble's clock
		return &doctored{Store: store, swap: func(w write) (tenure.Snapshot, error) {
			lock <- struct{}{}
			defer func() { <-lock }()
			if w.ctx.Err() != nil || w.current().Version != w.old || w.old == "" {
				return w.done()
			}
			time.Sleep(time.Millisecond)
			return w.forced()
		}}
	}
	s.store, s.second = client(), client()
}

func listsLoaded(store *memory.Store, s *subject) {
	var loaded sync.Map
	s.all(&doctored{
		Store: store,
		load: func(r read) (tenure.Snapshot, error) {
			loaded.Store(r.election, true)
			return r.done()
		},
		list: func(ctx context.Context) ([]string, error) {
			names, err := store.List(ctx)
			loaded.Range(func(name, _ any) bool { names = append(names, name.(string)); return true })
			slices.Sort(names)
			return slices.Compact(names), err
		},
	})
}

// prunesInWords returns what there is and prunes nothing.
func prunesInWords(ctx context.Context, store *memory.Store, _ time.Duration) ([]string, error) {
	return store.List(ctx)
}

// prunesToo prunes what it should, and more.
func prunesToo(doomed func(tenure.Record) bool) breakage {
	return pruningBy(func(ctx context.Context, store *memory.Store, unused time.Duration) ([]string, error) {
		pruned, err := store.Prune(ctx, unused)
		names, _ := store.List(ctx)
		for _, name := range names {
			if doomed(current(store, name).Record) {
				store.Delete(name)
				pruned = append(pruned, name)
			}
		}
		return pruned, err
	})
}

func forgetsFloor(store *memory.Store, s *subject) {
	var created sync.Map
	s.all(&doctored{
		Store: store,
		load: func(r read) (tenure.Snapshot, error) {
			loaded, err := r.done()
			if _, ok := created.Load(r.election); ok && !loaded.Exists() {
				loaded.Record.Token = 0
			}
			return loaded, err
		},
		swap: func(w write) (tenure.Snapshot, error) {
			created.Store(w.election, true)
			return w.done()
		},
	})
}

// lowersFloor has for a floor the highest token of the last pruning.
func lowersFloor(store *memory.Store, s *subject) {
	var floor uint64
	s.all(&doctored{
		Store: store,
		load: func(r read) (tenure.Snapshot, error) {
			loaded, err := r.done()
			if !loaded.Exists() {
				loaded.Record.Token = floor
			}
			return loaded, err
		},
		prune: func(ctx context.Context, unused time.Duration) ([]string, error) {
			before := make(map[string]uint64)
			names, _ := store.List(ctx)
			for _, name := range names {
				before[name] = current(store, name).Record.Token
			}
			pruned, err := store.Prune(ctx, unused)
			floor = 0
			for _, name := range pruned {
				floor = max(floor, before[name])
			}
			return pruned, err
		},
	})
}

func createsUnderFloor(w write) (tenure.Snapshot, error) {
	next, err := w.done()
	if now := w.current(); errors.Is(err, tenure.ErrConflict) && w.old == "" && !now.Exists() {
		above := w
		above.record.Token = now.Record.Token + 1
		next, _ = above.done()
		w.old = next.Version
		return w.done()
	}
	return next, err
}

// goroutineKept has a goroutine for each term that outlives it.
func goroutineKept(w write) (tenure.Snapshot, error) {
	if !w.record.Vacant() {
		go time.Sleep(12 * time.Hour)
	}
	return w.done()
}

// claiming says what it likes about its guarantee.
type claiming struct {
	*memory.Store
	guarantee tenure.Guarantee
}

func (c claiming) Guarantee(context.Context) (tenure.Guarantee, error) { return c.guarantee, nil }

type noUnit struct{ *memory.Store }

func (noUnit) TTLUnit() time.Duration { return 0 }
