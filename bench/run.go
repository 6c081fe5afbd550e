package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tenure-go/tenure/internal/testserver"
)

// Result is what was measured of one bed. What could not be measured is nil or empty, and among the problems.
type Result struct {
	Bed      Bed
	Version  string
	Pushes   bool
	Renewal  Renewal
	HandOver []HandOver
	Herd     *Herd
	Load     *Load
	FailOver *FailOver
	Writers  *Writers
	Problems []string
}

// bench is a run.
type bench struct {
	plan    Plan
	rigs    []*rig
	results []*Result
	skipped []string

	mu sync.Mutex // guards the results' problems
}

// Run measures the beds, in turn with each other where time is measured, so that a disturbance of the machine meets all
// of them. A bed that cannot be measured does not keep the others from it.
func Run(ctx context.Context, tb testserver.TB, beds []Bed, plan Plan) (*Report, error) {
	if err := plan.Check(); err != nil {
		return nil, err
	}
	b := &bench{plan: plan}
	for _, bed := range beds {
		b.start(ctx, tb, bed)
	}
	if len(b.rigs) == 0 {
		return nil, fmt.Errorf("no store can be measured: %q", b.skipped)
	}
	began := time.Now()
	for _, phase := range []struct {
		what string
		do   func(context.Context)
	}{
		{"renewals beside bare writes", b.renewals},
		{"hand-overs", b.handOvers},
		{"many leaders", b.writers},
		{"a herd", b.herds},
		{"candidates at rest", b.loads},
		{"deaths of leaders", b.failOvers},
	} {
		plan.logf("%s", phase.what)
		phase.do(ctx)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	report := newReport(plan, b.results, b.skipped)
	report.Took = time.Since(began)
	return report, nil
}

// start starts a bed. A server that is missing ends this bed alone.
func (b *bench) start(ctx context.Context, tb testserver.TB, bed Bed) {
	var r *rig
	err := Guarded(tb, func(tb testserver.TB) (err error) {
		r, err = newRig(ctx, tb, bed)
		return err
	})
	if err != nil {
		b.plan.logf("%s: %v", bed.Name, err)
		b.skipped = append(b.skipped, fmt.Sprintf("%s: %v", bed.Name, err))
		return
	}
	b.rigs = append(b.rigs, r)
	b.results = append(b.results, &Result{Bed: bed, Version: r.server.Version(), Pushes: r.pushes})
	b.plan.logf("%s: %s", bed.Name, r.server.Version())
}

// failed notes what could not be measured.
func (b *bench) failed(i int, what string, err error) {
	problem := fmt.Sprintf("%s: %v", what, err)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.plan.logf("%s: %s", b.results[i].Bed.Name, problem)
	b.results[i].Problems = append(b.results[i].Problems, problem)
}

// trial is one bed's part of a measurement that is made in rounds.
type trial struct {
	rounds int
	sample func(context.Context) error
	failed func(error)
}

// inRounds has every trial take a sample, then every trial the next one, in another order each time.
func inRounds(ctx context.Context, trials []trial) {
	for round := 0; ctx.Err() == nil; round++ {
		trials = slices.DeleteFunc(trials, func(t trial) bool { return round >= t.rounds })
		if len(trials) == 0 {
			return
		}
		first := round % len(trials)
		turn := slices.Concat(trials[first:], trials[:first])
		trials = trials[:0:0]
		for _, t := range turn {
			if err := t.sample(ctx); err != nil {
				t.failed(err)
				continue
			}
			trials = append(trials, t)
		}
	}
}

func (b *bench) renewals(ctx context.Context) {
	var trials []trial
	renewing := make(map[int]*renewing)
	for i, r := range b.rigs {
		n, err := r.beginRenewal(ctx)
		if err != nil {
			b.failed(i, "a first record", err)
			continue
		}
		renewing[i] = n
		trials = append(trials, trial{b.plan.Renewals, n.sample, func(err error) { b.failed(i, "renewals", err) }})
	}
	inRounds(ctx, trials)
	for i, n := range renewing {
		if err := errors.Join(n.count(ctx, b.plan.Renewals), n.store.Close()); err != nil {
			b.failed(i, "counting renewals", err)
		}
		b.results[i].Renewal = n.result
	}
}

func (b *bench) handOvers(ctx context.Context) {
	for _, candidates := range b.plan.Candidates {
		b.plan.logf("  with %d candidates", candidates)
		b.handOversAmong(ctx, candidates)
	}
}

// handOversAmong has the stores that push take turns. With those that are polled nearly all of the time is waiting, so
// they are measured at the same time.
func (b *bench) handOversAmong(ctx context.Context, candidates int) {
	var pushing []trial
	var polled sync.WaitGroup
	begun := make(map[int]*handOver)
	for i, r := range b.rigs {
		h, err := r.beginHandOver(ctx, candidates, b.plan.Processes)
		if err != nil {
			b.failed(i, "hand-over", err)
			continue
		}
		begun[i] = h
		if r.pushes {
			pushing = append(pushing, b.handOverTrial(i, h, b.plan.HandOvers))
		}
	}
	inRounds(ctx, pushing)
	for i, h := range begun {
		if !b.rigs[i].pushes {
			polled.Go(func() { inRounds(ctx, []trial{b.handOverTrial(i, h, b.plan.Polled)}) })
		}
	}
	polled.Wait()
	for i, h := range begun {
		if err := h.close(); err != nil {
			b.failed(i, "ending hand-overs", err)
		}
		b.results[i].HandOver = append(b.results[i].HandOver, h.result)
	}
}

func (b *bench) handOverTrial(i int, h *handOver, rounds int) trial {
	return trial{rounds, h.sample, func(err error) { b.failed(i, "hand-over", err) }}
}

func (b *bench) writers(ctx context.Context) {
	p := b.plan
	for i, r := range b.rigs {
		w, err := r.measureWriters(ctx, p.Leaders, min(p.Leaders, 10), p.WriteRounds, p.WriteFor)
		if err != nil {
			b.failed(i, "many leaders", err)
			continue
		}
		b.results[i].Writers = &w
	}
}

func (b *bench) herds(ctx context.Context) {
	for i, r := range b.rigs {
		b.plan.logf("  %s", r.bed.Name)
		herd, err := r.measureHerd(ctx, b.plan.Herd, b.plan.Processes, b.plan.Changes)
		if err != nil {
			b.failed(i, "herd", err)
			continue
		}
		b.results[i].Herd = &herd
	}
}

// loads are counted, not timed, so all beds are watched at the same time.
func (b *bench) loads(ctx context.Context) {
	b.together(func(i int, r *rig) {
		load, err := r.measureLoad(ctx, b.plan.Followers, b.plan.Load)
		if err != nil {
			b.failed(i, "load", err)
			return
		}
		b.results[i].Load = &load
	})
}

// failOvers take a TTL each, beside which the others' do not matter.
func (b *bench) failOvers(ctx context.Context) {
	b.together(func(i int, r *rig) {
		if r.bed.Open == nil {
			return
		}
		f, err := r.measureFailOver(ctx, 2, b.plan.Deaths, b.plan.TTL)
		if err != nil {
			b.failed(i, "fail-over", err)
			return
		}
		b.results[i].FailOver = &f
	})
}

func (b *bench) together(do func(int, *rig)) {
	var group sync.WaitGroup
	for i, r := range b.rigs {
		group.Go(func() { do(i, r) })
	}
	group.Wait()
}
