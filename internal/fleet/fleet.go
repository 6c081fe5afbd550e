// Package fleet runs real candidates of one election in tests, through whatever faults the test brings about, and
// checks that no two of them led at the same time. It works on real time, since real servers do.
package fleet

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tenure-go/tenure"
)

// TTL is that of the candidates: long enough for a busy machine to renew in time, short enough to wait for its end.
const TTL = 2 * time.Second

// Patient are the options of a candidate that renews often under a long lease: no pause of a busy machine ends its
// term, but a store that tells it something wrong does.
var Patient = []tenure.Option{tenure.WithTTL(time.Minute), tenure.WithRenewInterval(50 * time.Millisecond)}

// patience bounds how long anything may take.
const patience = time.Minute

// Election is what the candidates stand in.
const Election = "fleet"

// TB is what this package needs of a test.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Cleanup(f func())
}

// Fleet is the candidates, and the terms that they led.
type Fleet struct {
	tb    TB
	begun chan tenure.Term

	mu    sync.Mutex
	terms []*span
	stops []func()
}

// span is what is certain of a term: it was valid at its first and last instant, and so in between.
type span struct {
	leader      string
	token       uint64
	first, last time.Time
}

// New returns a fleet without candidates.
func New(tb TB) *Fleet { return &Fleet{tb: tb, begun: make(chan tenure.Term, 1000)} }

// Stand lets a candidate run in the background. What it returns stops the candidate, which gives its seat back, and may
// be called more than once.
func (f *Fleet) Stand(store tenure.Store, id string, options ...tenure.Option) (stop func()) {
	f.tb.Helper()
	options = append([]tenure.Option{tenure.WithID(id), tenure.WithTTL(TTL)}, options...)
	c, err := tenure.New(store, Election, options...)
	if err != nil {
		f.tb.Fatalf("fleet: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := c.Run(ctx, f.work); ctx.Err() == nil {
			f.tb.Errorf("%s: Run returned %v", id, err)
		}
	})
	stop = func() {
		cancel()
		running.Wait()
	}
	f.tb.Cleanup(stop)
	f.stops = append(f.stops, stop)
	return stop
}

// work leads. It looks at the clock often, and keeps instants before each look that found the term valid.
func (f *Fleet) work(ctx context.Context, term tenure.Term) error {
	defer func() { <-ctx.Done() }() // which the term's end brings about; to return earlier is to be done
	now := time.Now()
	if !term.Valid() {
		return nil
	}
	s := &span{leader: term.Leader, token: term.Token, first: now, last: now}
	f.mu.Lock()
	f.terms = append(f.terms, s)
	f.mu.Unlock()
	f.begun <- term
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for ; ; <-look.C {
		now = time.Now()
		if !term.Valid() {
			return nil
		}
		f.mu.Lock()
		s.last = now
		f.mu.Unlock()
	}
}

// Next waits for the next term.
func (f *Fleet) Next() tenure.Term {
	f.tb.Helper()
	term, ok := f.Within(patience)
	if !ok {
		f.tb.Fatalf("nobody has begun to lead for %v", patience)
	}
	return term
}

// Within waits for the next term as long as d, and reports whether one has begun.
func (f *Fleet) Within(d time.Duration) (tenure.Term, bool) {
	select {
	case term := <-f.begun:
		return term, true
	case <-time.After(d):
		return tenure.Term{}, false
	}
}

// Over waits for the end of a term.
func (f *Fleet) Over(term tenure.Term) {
	f.tb.Helper()
	for deadline := time.Now().Add(patience); term.Valid(); time.Sleep(5 * time.Millisecond) { // no event tells
		if time.Now().After(deadline) {
			f.tb.Fatalf("the term of %s has not ended after %v", term.Leader, patience)
		}
	}
}

// Check stops all candidates, and fails the test if two terms overlapped, or a token did not rise.
func (f *Fleet) Check() {
	f.tb.Helper()
	for _, stop := range f.stops {
		stop()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	terms := slices.SortedFunc(slices.Values(f.terms), func(a, b *span) int { return a.first.Compare(b.first) })
	for i := 1; i < len(terms); i++ {
		before, after := terms[i-1], terms[i]
		if !before.last.Before(after.first) || after.token <= before.token {
			f.tb.Errorf("%v\nis followed by\n%v", before, after)
		}
	}
}

func (s *span) String() string {
	return fmt.Sprintf("%s, token %d, %v - %v", s.leader, s.token,
		s.first.Format("05.000000"), s.last.Format("05.000000"))
}
