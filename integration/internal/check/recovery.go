package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/tenure-go/tenure/integration/internal/history"
)

// Recovery is what became of a healing.
type Recovery struct {
	Heal
	// Deadline is until when somebody had to lead: the bound, and as much as the machine stood still meanwhile.
	Deadline history.Instant
	// Led is the first instant from the healing on at which somebody was trusted, zero if there was none before
	// the deadline.
	Led history.Instant
	// Judged tells that there was all the time until the deadline, or that somebody led sooner.
	Judged bool
}

// busiest is how many times its bound a recovery can be stretched by stalls and still prove anything.
const busiest = 3

// Recoveries returns one for each healing.
func (r *Run) Recoveries() (out []Recovery) {
	led := r.Led()
	for _, h := range r.Heals {
		v := Recovery{Heal: h, Deadline: r.widened(h)}
		if i := slices.IndexFunc(led, func(s Span) bool { return s.To > h.At }); i >= 0 && led[i].From <= v.Deadline {
			v.Led = max(h.At, led[i].From)
		}
		wait := v.Deadline.Sub(h.At)
		v.Judged = v.Led != 0 || !r.disturbed(v) && v.Deadline <= r.To && wait <= busiest*h.Bound
		out = append(out, v)
	}
	return out
}

// disturbed reports whether a fault began, or was still in force, before the deadline.
func (r *Run) disturbed(v Recovery) bool {
	return slices.ContainsFunc(r.Faults, func(f *Fault) bool {
		s := f.Span(r)
		return s.To > v.At && s.From <= v.Deadline
	})
}

// widened is the end of a healing's bound, moved on by each stall before it.
func (r *Run) widened(h Heal) history.Instant {
	deadline := h.At.Add(h.Bound)
	for _, s := range r.Stalls {
		if s.To <= h.At {
			continue
		}
		if s.From >= deadline {
			break
		}
		deadline = deadline.Add(s.To.Sub(max(s.From, h.At)))
	}
	return deadline
}

// recovery finds healings after which nobody led in time.
func recovery(r *Run, _ Options) (j judgement) {
	judged, worst := 0, time.Duration(0)
	for _, v := range r.Recoveries() {
		switch {
		case !v.Judged:
			continue
		case v.Led == 0:
			j.add(Span{v.At, v.Deadline}, false, "healed at %s, and nobody was trusted until %s; the bound is %v",
				r.Time(v.At), r.Time(v.Deadline), v.Bound)
		default:
			worst = max(worst, v.Led.Sub(v.At))
		}
		judged++
	}
	j.note = fmt.Sprintf("%d of %s judged, the slowest after %v",
		judged, plural(len(r.Heals), "recovery", "recoveries"), round(worst))
	if judged == 0 {
		j.undecided = "no recovery had the time that it is allowed"
	}
	return j
}

func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}
