package check

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// held is one span of a term.
type held struct {
	Span
	term *Term
}

// held returns all spans of trust in the order in which they began.
func (r *Run) held() (out []held) {
	for _, t := range r.Terms {
		for _, s := range t.Spans {
			out = append(out, held{s, t})
		}
	}
	slices.SortStableFunc(out, func(a, b held) int { return byFrom(a.Span, b.Span) })
	return out
}

// Led returns the times in which somebody was certainly trusted.
func (r *Run) Led() []Span {
	var spans []Span
	for _, h := range r.held() {
		spans = append(spans, h.Span)
	}
	return union(spans)
}

// oneLeader finds spans of two sessions with more than an instant in common.
func oneLeader(r *Run, _ Options) (j judgement) {
	var active []held
	for _, h := range r.held() {
		active = slices.DeleteFunc(active, func(a held) bool { return a.To <= h.From })
		for _, a := range active {
			both := Span{h.From, min(a.To, h.To)}
			if a.term.sameSession(h.term) || both.Length() <= 0 {
				continue
			}
			j.add(both, r.excusedThrough(both), "%v and %v were both trusted for %v, from %s to %s",
				a.term, h.term, both.Length(), r.Time(both.From), r.Time(both.To))
			j.findings[len(j.findings)-1].Processes = []string{a.term.Life.Process, h.term.Life.Process}
		}
		active = append(active, h)
	}
	led := r.Span.within(r.Led())
	j.note = fmt.Sprintf("%s; somebody led for %.1f %% of the time", count(len(j.findings), "overlap"),
		100*led.Seconds()/max(time.Nanosecond, r.Length()).Seconds())
	if led == 0 {
		j.undecided = "nobody was ever trusted"
	}
	return j
}

// risingTokens compares each term with the one before it, and those of one token with each other.
func risingTokens(r *Run, _ Options) (j judgement) {
	var before *Term
	first := map[uint64]*Term{}
	trusted, again := 0, 0
	for _, t := range r.Terms {
		if f := first[t.Token]; f == nil {
			first[t.Token] = t
		} else if t.Before == nil {
			known := between(f, t)
			j.add(known, r.excusedBetween(known), "token %d belonged to %s from %s and to %s from %s",
				t.Token, f.Life, r.Time(known.From), t.Life, r.Time(known.To))
		}
		if t.Before != nil {
			again++
		}
		if len(t.Spans) == 0 {
			continue // when it was trusted, if it was, is not known
		}
		if !t.resumes() {
			trusted++
		}
		if before != nil && t.Token < before.Token {
			known := between(before, t)
			j.add(known, r.excusedBetween(known), "%v, trusted from %s, came after %v, trusted from %s",
				t, r.Time(known.To), before, r.Time(known.From))
		}
		before = t
	}
	j.note = count(trusted, "term")
	if trusted == 0 {
		j.undecided = "nobody was ever trusted"
	} else if lowest, highest := r.tokens(); highest > 0 {
		j.note += fmt.Sprintf(", tokens %d to %d", lowest, highest)
	}
	if again > 0 {
		j.note += fmt.Sprintf(", %s within a term", plural(again, "command started again", "commands started again"))
	}
	return j
}

// between goes from the beginning of one term to that of a later one.
func between(earlier, later *Term) Span { return Span{earlier.Whole().From, later.Whole().From} }

// tokens returns the lowest and the highest.
func (r *Run) tokens() (lowest, highest uint64) {
	if len(r.Terms) == 0 {
		return 0, 0
	}
	byToken := func(a, b *Term) int { return cmp.Compare(a.Token, b.Token) }
	return slices.MinFunc(r.Terms, byToken).Token, slices.MaxFunc(r.Terms, byToken).Token
}

// lostIsLost finds a no between two yeses of one term.
func lostIsLost(r *Run, _ Options) (j judgement) {
	for _, t := range r.Terms {
		for i := 1; i < len(t.Spans); i++ {
			gap := Span{t.Spans[i-1].To, t.Spans[i].From}
			j.add(gap, false, "%v was refused after %s, and trusted again at %s", t, r.Time(gap.From), r.Time(gap.To))
		}
	}
	j.note = fmt.Sprintf("%s asked after, through %s of trust", count(len(r.Terms), "term"), round(r.trusted()))
	if r.trusted() == 0 {
		j.undecided = "nobody was ever trusted"
	}
	return j
}

// trusted is the sum of all trust.
func (r *Run) trusted() (total time.Duration) {
	for _, h := range r.held() {
		total += h.Length()
	}
	return total
}

// count says how many there are of something.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// round leaves as much of a duration as people read.
func round(d time.Duration) time.Duration {
	switch {
	case d > 10*time.Second:
		return d.Round(100 * time.Millisecond)
	case d > 10*time.Millisecond:
		return d.Round(time.Millisecond)
	}
	return d.Round(time.Microsecond)
}
