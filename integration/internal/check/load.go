package check

import (
	"fmt"
	"slices"
)

// spare is how many requests more than the rate allows there may be in any window: what was sent just before it began
// and counted in it.
const spare = 3

// window is a time between two counts of one life.
type window struct {
	Span
	life *Life
	sent float64
	// struck tells that a fault was in force, or just had been.
	struck bool
}

// load compares what was sent with what the documentation says that it costs.
func load(r *Run, _ Options) (j judgement) {
	quiet := 0
	var sent, minutes float64
	for _, w := range r.windows() {
		if !w.struck {
			quiet++
			sent, minutes = sent+w.sent, minutes+w.Length().Minutes()
		}
		if allowed := w.allowed(r); w.sent > allowed {
			j.add(w.Span, false, "%v sent %.0f requests from %s to %s, where %.1f are allowed",
				w.life, w.sent, r.Time(w.From), r.Time(w.To), allowed)
		}
	}
	if quiet > 0 {
		j.note = fmt.Sprintf("%.1f requests a minute for each candidate while nothing was wrong", sent/minutes)
	}
	switch {
	case r.Load.Leader <= 0 || r.Load.Fault <= 0:
		j.undecided = "the run states no ceiling"
	case quiet == 0:
		j.undecided = "no requests were counted while nothing was wrong"
	}
	return j
}

// windows returns the times between counts, those in a row that are alike as one, so that rounding matters little.
func (r *Run) windows() (out []window) {
	for _, l := range r.Lives {
		begun := len(out)
		for i := 1; i < len(l.Counts); i++ {
			before, now := l.Counts[i-1], l.Counts[i]
			w := window{Span: Span{before.At, now.At}, life: l, sent: float64(now.Sent() - before.Sent())}
			w.struck = r.struck(w.Span)
			if last := len(out) - 1; last >= begun && out[last].struck == w.struck {
				out[last].To, out[last].sent = w.To, out[last].sent+w.sent
				continue
			}
			out = append(out, w)
		}
	}
	return out
}

// struck reports whether a fault was in force, or a TTL ago, in which nobody has settled down yet.
func (r *Run) struck(s Span) bool {
	return slices.ContainsFunc(r.Faults, func(f *Fault) bool {
		effect := f.Span(r)
		effect.To = effect.To.Add(r.TTL)
		return effect.meets(s)
	})
}

// allowed is how many requests the window may have.
func (w window) allowed(r *Run) float64 {
	changes := 0.0
	for _, t := range r.Terms {
		if t.Before == nil && t.Whole().From >= w.From && t.Whole().From <= w.To {
			changes++
		}
	}
	return w.rated(r) + spare + r.Load.Change*(changes+1)
}

// rated is how many the rates allow.
func (w window) rated(r *Run) float64 {
	if w.struck {
		return w.Length().Minutes() * r.Load.Fault
	}
	var led []Span
	for _, t := range w.life.Terms {
		led = append(led, t.Spans...)
	}
	leading := w.within(union(led))
	return leading.Minutes()*r.Load.Leader + (w.Length()-leading).Minutes()*r.Load.Follower
}
