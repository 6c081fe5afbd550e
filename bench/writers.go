package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenure-go/tenure"
)

// Writers is what many leaders get through who renew as fast as they can, each the record of an election of its own,
// while every process watches every election; beside as many writers of bare values.
type Writers struct {
	Leaders, Processes int
	// Renewals and Writes are rates per second, one of each a round.
	Renewals, Writes []float64
}

// Ratio is the median of the rounds' ratios of bare writes to renewals: how many writes a renewal costs.
func (w Writers) Ratio() float64 {
	ratios := make(Series, len(w.Writes)) // in millionths
	for i := range ratios {
		ratios[i] = time.Duration(w.Writes[i] / w.Renewals[i] * 1e6)
	}
	return float64(ratios.Median()) / 1e6
}

func (r *rig) measureWriters(
	ctx context.Context, leaders, processes, rounds int, each time.Duration,
) (_ Writers, err error) {
	result := Writers{Leaders: leaders, Processes: processes}
	crowd, err := r.crowd(ctx, leaders, processes)
	defer func() { err = errors.Join(err, crowd.close()) }()
	if err != nil {
		return result, err
	}
	for range rounds {
		renewals, err := rate(ctx, leaders, each, func(ctx context.Context, i int) error {
			return crowd.leaders[i].renew(ctx)
		})
		if err != nil {
			return result, err
		}
		writes, err := rate(ctx, leaders, each, func(ctx context.Context, i int) error {
			return r.server.Write(ctx, i%BareValues)
		})
		if err != nil {
			return result, err
		}
		result.Renewals, result.Writes = append(result.Renewals, renewals), append(result.Writes, writes)
	}
	return result, nil
}

// crowd are leaders of many elections.
type crowd struct {
	stores  []Store
	leaders []*renewing
	stops   []func()
}

func (r *rig) crowd(ctx context.Context, leaders, processes int) (*crowd, error) {
	c := &crowd{}
	for range processes {
		store, err := r.server.Open(ctx)
		if err != nil {
			return c, err
		}
		c.stores = append(c.stores, store)
	}
	for i := range leaders {
		n := &renewing{rig: r, store: c.stores[i%processes], election: r.election("crowd")}
		if err := n.lead(ctx); err != nil {
			return c, err
		}
		c.leaders = append(c.leaders, n)
		if err := c.watch(ctx, n.election); err != nil {
			return c, err
		}
	}
	return c, nil
}

// watch has every process watch an election.
func (c *crowd) watch(ctx context.Context, election string) error {
	for _, store := range c.stores {
		watcher, ok := store.(tenure.Watcher)
		if !ok {
			continue
		}
		stop, err := watcher.Watch(ctx, election, func(tenure.Snapshot, error) {})
		if err != nil {
			return fmt.Errorf("watching: %w", err)
		}
		c.stops = append(c.stops, stop)
	}
	return nil
}

func (c *crowd) close() error {
	for _, stop := range c.stops {
		stop()
	}
	var errs []error
	for _, store := range c.stores {
		errs = append(errs, store.Close())
	}
	return errors.Join(errs...)
}

// rate has n goroutines do something again and again, and returns how often a second it was done. What a store refused
// for now, because too many want the same at once, was not done.
func rate(ctx context.Context, n int, each time.Duration, do func(context.Context, int) error) (float64, error) {
	var done atomic.Int64
	var group sync.WaitGroup
	errs := make([]error, n)
	start := time.Now()
	for i := range n {
		group.Go(func() {
			for errs[i] == nil && time.Since(start) < each {
				switch err := do(ctx, i); {
				case err == nil:
					done.Add(1)
				case !errors.Is(err, tenure.ErrNotApplied):
					errs[i] = err
				}
			}
		})
	}
	group.Wait()
	return float64(done.Load()) / time.Since(start).Seconds(), errors.Join(errs...)
}
