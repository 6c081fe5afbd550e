package demo

import (
	"slices"
	"time"

	"github.com/tenure-go/tenure/cmd/tenure/internal/guard"
)

// Result is what a demo showed.
type Result struct {
	Summary

	began guard.Instant
	lanes []lane
	spans []Trust
	// events in the order in which they began
	events []Event
}

// lane is a node in the timeline.
type lane struct {
	id    string
	times []stretch
}

// Summary is a demo in numbers.
type Summary struct {
	Nodes  int
	TTL    time.Duration
	Seed   uint64
	Unsafe bool
	// Lasted is how long it took, and Faults what was done meanwhile.
	Lasted time.Duration
	Faults int
	// Terms are those that began, from FirstToken to LastToken.
	Terms      int
	FirstToken uint64
	LastToken  uint64
	// Led is the share of the time in which somebody was certainly trusted.
	Led float64
	// HandOver is from the request, or the order to stop, to the work of the next leader; AfterKill from kill -9, and
	// AfterFreeze from SIGSTOP.
	HandOver    Times
	AfterKill   Times
	AfterFreeze Times
	// Failures are the calls to the store that failed, LastFailure the last.
	Failures    int
	LastFailure string
	// Findings are what must not happen.
	Findings Findings
}

// Times are a number of measurements.
type Times struct {
	Count int
	P50   time.Duration
	Max   time.Duration
}

func measure(samples []time.Duration) Times {
	if len(samples) == 0 {
		return Times{}
	}
	sorted := slices.Sorted(slices.Values(samples))
	return Times{Count: len(sorted), P50: sorted[len(sorted)/2], Max: sorted[len(sorted)-1]}
}

func (s *stage) result() *Result {
	spans := s.spans()
	r := &Result{began: s.began, spans: spans, events: s.events, Summary: Summary{
		Nodes: s.Nodes, TTL: s.TTL, Seed: s.Seed, Unsafe: s.Unsafe, Lasted: s.now(), Faults: s.done,
		HandOver: measure(s.times.handOver), AfterKill: measure(s.times.afterKill),
		AfterFreeze: measure(s.times.afterFreeze),
		Failures:    s.failures, LastFailure: s.lastFailure, Findings: Check(spans),
	}}
	r.count(s.terms)
	r.Led = float64(covered(spans)) / float64(r.Lasted)
	for _, m := range s.members {
		r.lanes = append(r.lanes, lane{m.id, m.times})
	}
	return r
}

func (s *Summary) count(terms []*term) {
	tokens := make([]uint64, len(terms))
	for i, t := range terms {
		tokens[i] = t.Token
	}
	slices.Sort(tokens)
	tokens = slices.Compact(tokens)
	if s.Terms = len(tokens); s.Terms > 0 {
		s.FirstToken, s.LastToken = tokens[0], tokens[s.Terms-1]
	}
}
