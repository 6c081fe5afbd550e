package demo

import (
	"cmp"
	"slices"

	"github.com/tenure-go/tenure/cmd/tenure/internal/guard"
)

// Trust is a span through which a process was certainly trusted with a term.
type Trust struct {
	Node     string
	PID      int
	Token    uint64
	From, To guard.Instant
	// Returned is when the work under the term returned, zero if it never did.
	Returned guard.Instant
	// Released tells whether the process gave the seat up, rather than let it run out.
	Released bool
}

// leadership is one term of one process.
type leadership struct {
	pid   int
	token uint64
}

func (t Trust) leadership() leadership { return leadership{t.PID, t.Token} }

// certain reports whether the process was trusted at From already. After a single yes it may have been frozen before
// it read the clock.
func (t Trust) certain() bool { return t.From < t.To }

// Overlap is a time at which two terms were trusted at once.
type Overlap struct {
	A, B     Trust
	From, To guard.Instant
}

// Pair is two spans of which the later contradicts the earlier.
type Pair struct{ Earlier, Later Trust }

// Findings are what must not happen. The zero Findings is the verdict that all went well.
type Findings struct {
	// Overlaps: two leaders at once.
	Overlaps []Overlap
	// Fallen: a later term had no higher token.
	Fallen []Pair
	// Revived: trust that was refused came back within the term.
	Revived []Pair
	// Hasty: a seat was given up before the work under it had returned, and taken by another.
	Hasty []Pair
}

// Clean reports whether nothing was found.
func (f Findings) Clean() bool { return f.count() == 0 }

// count is how many there are.
func (f Findings) count() int {
	return len(f.Overlaps) + len(f.Fallen) + len(f.Revived) + len(f.Hasty)
}

// Check judges the spans of one election, in any order.
func Check(spans []Trust) Findings {
	spans = slices.Clone(spans)
	slices.SortFunc(spans, func(a, b Trust) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Token, b.Token))
	})
	var (
		f       Findings
		recent  []Trust // those that a later span can still contradict
		highest Trust
		known   = make(map[leadership]Trust)
	)
	for _, s := range spans {
		if earlier, ok := known[s.leadership()]; ok {
			f.Revived = append(f.Revived, Pair{earlier, s})
		} else if s.certain() && s.Token <= highest.Token {
			f.Fallen = append(f.Fallen, Pair{highest, s})
		}
		recent = slices.DeleteFunc(recent, func(r Trust) bool { return max(r.To, r.Returned) <= s.From })
		for _, earlier := range recent {
			f.compare(earlier, s)
		}
		recent, known[s.leadership()] = append(recent, s), s
		if s.Token > highest.Token {
			highest = s
		}
	}
	return f
}

// compare judges two spans of which earlier began first.
func (f *Findings) compare(earlier, later Trust) {
	if earlier.leadership() == later.leadership() {
		return
	}
	if end := min(earlier.To, later.To); later.From < end {
		f.Overlaps = append(f.Overlaps, Overlap{earlier, later, later.From, end})
	}
	if earlier.Released && later.From < earlier.Returned {
		f.Hasty = append(f.Hasty, Pair{earlier, later})
	}
}

// covered is how much of the time somebody was trusted.
func covered(spans []Trust) (total int64) {
	spans = slices.Clone(spans)
	slices.SortFunc(spans, func(a, b Trust) int { return cmp.Compare(a.From, b.From) })
	var end guard.Instant
	for _, s := range spans {
		from := max(s.From, end)
		if s.To > from {
			total += int64(s.To - from)
			end = s.To
		}
	}
	return total
}
