package tenuretest

import (
	"strings"
	"sync"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

// hearsItself has clients that tell their own watches of their own writes. Only the first delivery is from the data.
func hearsItself(store *memory.Store, s *subject) {
	client := func() tenure.Store {
		var mu sync.Mutex
		mine := make(map[tenure.Version]bool)
		return &doctored{
			Store: store,
			swap: func(w write) (tenure.Snapshot, error) {
				mu.Lock()
				defer mu.Unlock()
				next, err := w.done()
				mine[next.Version] = true
				return next, err
			},
			watch: func(h hearing) (func(), error) {
				heard := false
				return h.by(func(s tenure.Snapshot, err error) {
					mu.Lock()
					pass := !heard || mine[s.Version] || !s.Exists()
					mu.Unlock()
					if heard = true; pass {
						h.deliver(s, err)
					}
				})
			},
		}
	}
	s.store, s.second = client(), client()
}

func beginsMissing(h hearing) (func(), error) {
	begun := false
	return h.by(func(s tenure.Snapshot, err error) {
		if !begun && s.Exists() {
			h.deliver(tenure.Snapshot{}, nil)
		}
		begun = true
		h.deliver(s, err)
	})
}

func missesCreation(h hearing) (func(), error) {
	missing := false
	return h.by(func(s tenure.Snapshot, err error) {
		created := missing && s.Exists()
		missing = !s.Exists()
		if !created {
			h.deliver(s, err)
		}
	})
}

func deliversPast(h hearing) (func(), error) {
	var past []tenure.Snapshot
	return h.by(func(s tenure.Snapshot, err error) {
		past = append(past, s)
		h.deliver(s, err)
		if len(past) > 1 {
			h.deliver(past[0], err)
		}
	})
}

func deliversInParallel(h hearing) (func(), error) {
	return h.by(func(s tenure.Snapshot, err error) {
		var delivering sync.WaitGroup
		defer delivering.Wait()
		for range 2 {
			mine := apart(s)
			delivering.Go(func() { h.deliver(mine, err) })
		}
	})
}

func keepsLastWatch(store *memory.Store, s *subject) {
	var mu sync.Mutex
	last := make(map[string]int)
	watchingBy(func(h hearing) (func(), error) {
		mu.Lock()
		defer mu.Unlock()
		last[h.election]++
		mine := last[h.election]
		return h.by(func(s tenure.Snapshot, err error) {
			mu.Lock()
			pass := last[h.election] == mine
			mu.Unlock()
			if pass {
				h.deliver(s, err)
			}
		})
	})(store, s)
}

func watchesChildren(store *memory.Store, s *subject) {
	var mu sync.Mutex
	watches := make(map[string]hearing)
	s.all(&doctored{
		Store: store,
		swap: func(w write) (tenure.Snapshot, error) {
			next, err := w.done()
			mu.Lock()
			defer mu.Unlock()
			for parent, h := range watches {
				if err == nil && w.election != parent && strings.HasPrefix(w.election, parent) {
					h.deliver(next, nil)
				}
			}
			return next, err
		},
		watch: func(h hearing) (func(), error) {
			mu.Lock()
			defer mu.Unlock()
			watches[h.election] = h
			return h.done()
		},
	})
}

func cachesDelivered(store *memory.Store, s *subject) {
	var cache sync.Map
	s.all(&doctored{
		Store: store,
		load: func(r read) (tenure.Snapshot, error) {
			loaded, err := r.done()
			if cached, ok := cache.Load(loaded.Version); ok {
				return cached.(tenure.Snapshot), err
			}
			return loaded, err
		},
		watch: func(h hearing) (func(), error) {
			return h.by(func(s tenure.Snapshot, err error) {
				cache.Store(s.Version, s)
				h.deliver(s, err)
			})
		},
	})
}

func writesBetweenDeliveries(store *memory.Store, s *subject) {
	busy := make(chan struct{}, 1)
	s.all(&doctored{
		Store: store,
		swap: func(w write) (tenure.Snapshot, error) {
			busy <- struct{}{}
			defer func() { <-busy }()
			return w.done()
		},
		watch: func(h hearing) (func(), error) {
			return h.by(func(s tenure.Snapshot, err error) {
				busy <- struct{}{}
				defer func() { <-busy }()
				h.deliver(s, err)
			})
		},
	})
}

// deliversLate lets every delivery take a moment on its way, and stop does not wait for it.
func deliversLate(store *memory.Store, s *subject) {
	var mu sync.Mutex
	var way []func()
	travel := func() {
		mu.Lock()
		defer mu.Unlock()
		for len(way) > 0 {
			arrive := way[0]
			mu.Unlock()
			time.Sleep(time.Millisecond)
			arrive()
			mu.Lock()
			way = way[1:]
		}
	}
	watchingBy(func(h hearing) (func(), error) {
		return h.by(func(s tenure.Snapshot, err error) {
			mu.Lock()
			defer mu.Unlock()
			if way = append(way, func() { h.deliver(s, err) }); len(way) == 1 {
				go travel()
			}
		})
	})(store, s)
}

func goroutineEach(h hearing) (func(), error) {
	done := make(chan struct{})
	go func() { <-done }()
	stop, err := h.done()
	return sync.OnceFunc(func() { stop(); close(done) }), err
}
