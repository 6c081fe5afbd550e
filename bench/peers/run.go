package peers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tenure-go/tenure/bench"
	"github.com/tenure-go/tenure/internal/testserver"
)

// Result is what was measured of one peer at one lease. What could not be measured is nil or empty, and among the
// problems.
type Result struct {
	Peer     Peer
	Lease    time.Duration
	Default  bool
	Server   string
	HandOver *HandOver
	Crowds   []HandOver
	Load     *Load
	FailOver *FailOver
	Problems []string
}

// run is one.
type run struct {
	plan    Plan
	rigs    []*rig
	results []*Result
	skipped []string

	mu sync.Mutex // guards the results' problems
}

// Run measures the peers, at their defaults and at the plan's lease. What is timed and takes milliseconds takes turns;
// what takes leases and polls, and what is only counted, runs side by side.
func Run(ctx context.Context, tb testserver.TB, all []Peer, plan Plan) (*Report, error) {
	if err := plan.Check(); err != nil {
		return nil, err
	}
	r := &run{plan: plan}
	for _, p := range all {
		if plan.Defaults || p.Fixed {
			r.start(ctx, tb, p, p.Lease, true)
		}
		if !p.Fixed {
			r.start(ctx, tb, p, plan.Lease, false)
		}
	}
	if len(r.rigs) == 0 {
		return nil, fmt.Errorf("nothing can be measured: %q", r.skipped)
	}
	began := time.Now()
	for _, phase := range []struct {
		what string
		do   func(context.Context)
	}{
		{"hand-overs", r.handOvers},
		{"crowds", r.crowds},
		{"candidates at rest", r.loads},
		{"deaths of leaders", r.failOvers},
	} {
		plan.logf("%s", phase.what)
		phase.do(ctx)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	report := newReport(plan, r.results, r.skipped)
	report.Took = time.Since(began)
	return report, nil
}

// start starts a peer's server. What is missing ends this peer alone.
func (r *run) start(ctx context.Context, tb testserver.TB, p Peer, lease time.Duration, isDefault bool) {
	var rig *rig
	err := bench.Guarded(tb, func(tb testserver.TB) (err error) {
		rig, err = newRig(ctx, tb, p, lease)
		return err
	})
	if err != nil {
		reason := fmt.Sprintf("%s: %v", p.Name, err)
		if !slices.Contains(r.skipped, reason) {
			r.plan.logf("%s", reason)
			r.skipped = append(r.skipped, reason)
		}
		return
	}
	r.rigs = append(r.rigs, rig)
	r.results = append(r.results, &Result{Peer: p, Lease: lease, Default: isDefault, Server: rig.server.Version()})
	r.plan.logf("%s, lease %v: %s", p.Name, lease, rig.server.Version())
}

// failed notes what could not be measured.
func (r *run) failed(i int, what string, err error) {
	problem := fmt.Sprintf("%s: %v", what, err)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.plan.logf("%s, lease %v: %s", r.results[i].Peer.Name, r.results[i].Lease, problem)
	r.results[i].Problems = append(r.results[i].Problems, problem)
}

// three is among how many candidates hand-overs are compared.
const three = 3

// handOvers has those that are told of a release take turns, and then those that poll wait side by side; those that
// keep the machine busy come last.
func (r *run) handOvers(ctx context.Context) {
	r.handOversOf(ctx, calm)
	r.handOversOf(ctx, storms)
}

func (r *run) handOversOf(ctx context.Context, which func(Peer) bool) {
	begun := make([]*handOver, len(r.rigs))
	r.together(which, func(i int, rig *rig) {
		h, err := rig.beginHandOver(ctx, three, three)
		if err != nil {
			r.failed(i, "hand-over", err)
			return
		}
		begun[i] = h
	})
	for range r.plan.HandOvers {
		for i, rig := range r.rigs {
			if rig.peer.Poll == 0 && begun[i] != nil {
				begun[i] = r.sample(ctx, i, begun[i])
			}
		}
	}
	r.together(polls, func(i int, _ *rig) { begun[i] = r.samples(ctx, i, begun[i]) })
	r.together(which, func(i int, _ *rig) {
		if begun[i] != nil {
			r.ended(i, begun[i])
			r.keep(i, begun[i])
		}
	})
}

// samples takes as many as the plan has and its time allows.
func (r *run) samples(ctx context.Context, i int, h *handOver) *handOver {
	for end := time.Now().Add(r.plan.HandOverFor); h != nil && time.Now().Before(end); {
		if len(h.result.Gap) == r.plan.HandOvers {
			return h
		}
		h = r.sample(ctx, i, h)
	}
	return h
}

// sample returns nil in place of a trial that failed, after keeping what it has measured. Where a seat stayed vacant,
// the trial goes on with new candidates, a few times.
func (r *run) sample(ctx context.Context, i int, h *handOver) *handOver {
	err := h.sample(ctx)
	if err == nil {
		return h
	}
	r.failed(i, fmt.Sprintf("hand-over among %d, after %d", h.result.Candidates, len(h.result.Gap)), err)
	r.ended(i, h)
	if h.result.Vacant++; errors.Is(err, errVacant) && h.result.Vacant <= 3 {
		again, err := r.rigs[i].beginHandOver(ctx, h.result.Candidates, min(h.result.Candidates, r.plan.Processes))
		if err == nil {
			again.result = h.result
			return again
		}
		r.failed(i, "beginning anew", err)
	}
	r.keep(i, h)
	return nil
}

// keep keeps what a trial has measured.
func (r *run) keep(i int, h *handOver) {
	switch {
	case len(h.result.Gap) == 0:
	case h.result.Candidates == three:
		r.results[i].HandOver = &h.result
	default:
		r.results[i].Crowds = append(r.results[i].Crowds, h.result)
	}
}

func (r *run) ended(i int, h *handOver) {
	if err := h.crowd.close(); err != nil && !errors.Is(err, context.Canceled) {
		r.failed(i, "ending hand-overs", err)
	}
}

// crowds measures larger numbers of candidates at the equal lease, one after the other.
func (r *run) crowds(ctx context.Context) {
	for _, n := range r.plan.Crowds {
		r.plan.logf("  of %d", n)
		for i, rig := range r.rigs {
			if equal(r.results[i]) && n <= rig.peer.Most && ctx.Err() == nil {
				r.crowd(ctx, i, n)
			}
		}
	}
}

func (r *run) crowd(ctx context.Context, i, n int) {
	h, err := r.rigs[i].beginHandOver(ctx, n, r.plan.Processes)
	if err != nil {
		r.failed(i, fmt.Sprintf("hand-over among %d", n), err)
		return
	}
	for end := time.Now().Add(r.plan.CrowdFor); time.Now().Before(end) && len(h.result.Gap) < r.plan.CrowdRounds; {
		if h = r.sample(ctx, i, h); h == nil {
			return
		}
	}
	r.ended(i, h)
	r.keep(i, h)
}

// loads watches all at the same time, and then those alone that keep the machine busy.
func (r *run) loads(ctx context.Context) {
	load := func(window time.Duration) func(int, *rig) {
		return func(i int, rig *rig) {
			l, err := rig.measureLoad(ctx, r.plan.Followers, window)
			if err != nil {
				r.failed(i, "load", err)
				return
			}
			r.results[i].Load = &l
		}
	}
	r.together(calm, load(r.plan.Load))
	for i, rig := range r.rigs {
		if rig.peer.Storms && ctx.Err() == nil {
			load(min(r.plan.Load, 10*time.Second))(i, rig)
		}
	}
}

// failOvers take leases, so all are measured at the same time, but for those that keep the machine busy.
func (r *run) failOvers(ctx context.Context) {
	measure := func(i int, rig *rig) {
		deaths := r.plan.Deaths
		if r.results[i].Default {
			deaths = r.plan.DefaultDeaths
		}
		f, err := rig.measureFailOver(ctx, 2, deaths)
		if err != nil {
			r.failed(i, "fail-over", err)
		}
		if len(f.Gap) > 0 {
			r.results[i].FailOver = &f
		}
	}
	r.together(calm, measure)
	r.together(storms, measure)
}

func calm(p Peer) bool { return !p.Storms }

func storms(p Peer) bool { return p.Storms }

func polls(p Peer) bool { return p.Poll > 0 }

func (r *run) together(which func(Peer) bool, do func(int, *rig)) {
	var group sync.WaitGroup
	for i, rig := range r.rigs {
		if which(rig.peer) {
			group.Go(func() { do(i, rig) })
		}
	}
	group.Wait()
}
