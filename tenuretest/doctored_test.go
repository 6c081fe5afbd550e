package tenuretest

import (
	"context"
	"errors"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

// doctored is a memory store with some methods replaced.
type doctored struct {
	*memory.Store
	load  func(read) (tenure.Snapshot, error)
	swap  func(write) (tenure.Snapshot, error)
	watch func(hearing) (stop func(), err error)
	list  func(ctx context.Context) ([]string, error)
	prune func(ctx context.Context, unused time.Duration) ([]string, error)
}

func (d *doctored) Load(ctx context.Context, election string) (tenure.Snapshot, error) {
	if r := (read{ctx, d.Store, election}); d.load != nil {
		return d.load(r)
	}
	return d.Store.Load(ctx, election)
}

func (d *doctored) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	if w := (write{ctx, d.Store, election, old, record}); d.swap != nil {
		return d.swap(w)
	}
	return d.Store.CompareAndSwap(ctx, election, old, record)
}

func (d *doctored) Watch(ctx context.Context, election string, deliver func(tenure.Snapshot, error)) (func(), error) {
	if h := (hearing{ctx, d.Store, election, deliver}); d.watch != nil {
		return d.watch(h)
	}
	return d.Store.Watch(ctx, election, deliver)
}

func (d *doctored) List(ctx context.Context) ([]string, error) {
	if d.list != nil {
		return d.list(ctx)
	}
	return d.Store.List(ctx)
}

func (d *doctored) Prune(ctx context.Context, unused time.Duration) ([]string, error) {
	if d.prune != nil {
		return d.prune(ctx, unused)
	}
	return d.Store.Prune(ctx, unused)
}

// read is a Load to be done wrongly.
type read struct {
	ctx      context.Context
	store    *memory.Store
	election string
}

func (r read) done() (tenure.Snapshot, error) { return r.store.Load(r.ctx, r.election) }

// write is a CompareAndSwap to be done wrongly.
type write struct {
	ctx      context.Context
	store    *memory.Store
	election string
	old      tenure.Version
	record   tenure.Record
}

func (w write) done() (tenure.Snapshot, error) {
	return w.store.CompareAndSwap(w.ctx, w.election, w.old, w.record)
}

func (w write) current() tenure.Snapshot { return current(w.store, w.election) }

// forced writes whatever the version.
func (w write) forced() (forced tenure.Snapshot, err error) {
	for range 100 { // but not under the floor of pruned tokens, however often it tries
		forced, err = w.store.CompareAndSwap(w.ctx, w.election, w.current().Version, w.record)
		if !errors.Is(err, tenure.ErrConflict) {
			break
		}
	}
	return forced, err
}

// hearing is a Watch to be done wrongly.
type hearing struct {
	ctx      context.Context
	store    *memory.Store
	election string
	deliver  func(tenure.Snapshot, error)
}

func (h hearing) done() (stop func(), err error) { return h.by(h.deliver) }

// by watches with another deliver function.
func (h hearing) by(deliver func(tenure.Snapshot, error)) (stop func(), err error) {
	return h.store.Watch(h.ctx, h.election, deliver)
}

func current(store *memory.Store, election string) tenure.Snapshot {
	snapshot, err := store.Load(context.Background(), election)
	if err != nil {
		panic(err)
	}
	return snapshot
}

// breakage turns a memory store and what else the kit is given into something broken.
type breakage func(*memory.Store, *subject)

// all puts one store in the place of every client.
func (s *subject) all(store tenure.Store) { s.store, s.second = store, store }

// doctoring breaks methods. It is called for every store, so that what it remembers is not shared.
func doctoring(doctor func(*memory.Store) doctored) breakage {
	return func(store *memory.Store, s *subject) {
		d := doctor(store)
		d.Store = store
		s.all(&d)
	}
}

func loading(load func(read) (tenure.Snapshot, error)) breakage {
	return doctoring(func(*memory.Store) doctored { return doctored{load: load} })
}

func swapping(swap func(write) (tenure.Snapshot, error)) breakage {
	return doctoring(func(*memory.Store) doctored { return doctored{swap: swap} })
}

func watchingBy(watch func(hearing) (func(), error)) breakage {
	return doctoring(func(*memory.Store) doctored { return doctored{watch: watch} })
}

func pruningBy(prune func(context.Context, *memory.Store, time.Duration) ([]string, error)) breakage {
	return doctoring(func(store *memory.Store) doctored {
		return doctored{prune: func(ctx context.Context, unused time.Duration) ([]string, error) {
			return prune(ctx, store, unused)
		}}
	})
}

// loads breaks what Load returns.
func loads(edit func(*tenure.Snapshot)) breakage {
	return loading(func(r read) (tenure.Snapshot, error) {
		loaded, err := r.done()
		edit(&loaded)
		return loaded, err
	})
}

// stores breaks what CompareAndSwap stores, but not what it returns.
func stores(edit func(*tenure.Record)) breakage {
	return swapping(func(w write) (tenure.Snapshot, error) {
		asked := w.record
		w.record = asked.Clone()
		edit(&w.record)
		written, err := w.done()
		if err == nil {
			written.Record = asked.Clone()
		}
		return written, err
	})
}

// returns breaks what CompareAndSwap returns, but not what it stores.
func returns(edit func(*tenure.Snapshot)) breakage {
	return swapping(func(w write) (tenure.Snapshot, error) {
		written, err := w.done()
		edit(&written)
		return written, err
	})
}

// delivers breaks which deliveries a watch passes on, given how many have come before.
func delivers(pass func(before int, s tenure.Snapshot) bool) breakage {
	return watchingBy(func(h hearing) (func(), error) {
		before := 0
		return h.by(func(s tenure.Snapshot, err error) {
			if pass(before, s) {
				h.deliver(s, err)
			}
			before++
		})
	})
}

// lists breaks what List returns.
func lists(edit func(*memory.Store, []string) []string) breakage {
	return doctoring(func(store *memory.Store) doctored {
		return doctored{list: func(ctx context.Context) ([]string, error) {
			names, err := store.List(ctx)
			return edit(store, names), err
		}}
	})
}
