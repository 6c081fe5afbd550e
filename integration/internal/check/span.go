package check

import (
	"cmp"
	"slices"
	"time"

	"github.com/tenure-go/tenure/integration/internal/history"
)

// Span is a stretch of time, both ends included.
type Span struct{ From, To history.Instant }

// Length is how long it is.
func (s Span) Length() time.Duration { return s.To.Sub(s.From) }

// meets reports whether the two have an instant in common.
func (s Span) meets(o Span) bool { return s.From <= o.To && o.From <= s.To }

// shared is how long both last at once.
func (s Span) shared(o Span) time.Duration {
	return max(0, min(s.To, o.To).Sub(max(s.From, o.From)))
}

func byFrom(a, b Span) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) }

// union returns spans of which none meets another and which together cover the same.
func union(spans []Span) (out []Span) {
	spans = slices.Clone(spans)
	slices.SortFunc(spans, byFrom)
	for _, s := range spans {
		if last := len(out) - 1; last >= 0 && s.From <= out[last].To {
			out[last].To = max(out[last].To, s.To)
			continue
		}
		out = append(out, s)
	}
	return out
}

// within is how much of s the spans, of which none meets another, cover.
func (s Span) within(spans []Span) (total time.Duration) {
	for _, o := range spans {
		total += s.shared(o)
	}
	return total
}
