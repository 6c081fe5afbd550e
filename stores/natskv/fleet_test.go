package natskv

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
)

const (
	fleetTTL = 2 * time.Second
	// fleetBucket is the bucket of candidates that have to find out soon.
	fleetBucket = "elections?heartbeat=200ms"
)

// fleet is real candidates of one election, and the terms that they led.
type fleet struct {
	t     *testing.T
	begun chan tenure.Term

	mu    sync.Mutex
	spans []*span
}

// span is what is certain of a term: it was valid at its first and its last instant, and so in between.
type span struct {
	term        tenure.Term
	first, last time.Time
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{t: t, begun: make(chan tenure.Term, 1000)}
	t.Cleanup(f.check)
	return f
}

// stand has a candidate run in the background. What it returns stops the candidate, which gives its seat back, and may
// be called more than once.
func (f *fleet) stand(store tenure.Store, id string, options ...tenure.Option) (stop func()) {
	f.t.Helper()
	c, err := tenure.New(store, "fleet", append([]tenure.Option{tenure.WithID(id), tenure.WithTTL(fleetTTL)}, options...)...)
	if err != nil {
		f.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := c.Run(ctx, f.lead); ctx.Err() == nil {
			f.t.Errorf("%s: Run returned %v", id, err)
		}
	})
	stop = func() {
		cancel()
		running.Wait()
	}
	f.t.Cleanup(stop)
	return stop
}

// lead looks at the clock often, and keeps the instants before each look that found the term valid.
func (f *fleet) lead(ctx context.Context, term tenure.Term) error {
	defer func() { <-ctx.Done() }() // to return earlier is to be done
	now := time.Now()
	if !term.Valid() {
		return nil
	}
	s := &span{term: term, first: now, last: now}
	f.mu.Lock()
	f.spans = append(f.spans, s)
	f.mu.Unlock()
	f.begun <- term
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
		}
		if now = time.Now(); !term.Valid() {
			return nil
		}
		f.mu.Lock()
		s.last = now
		f.mu.Unlock()
	}
}

// next waits for the next term.
func (f *fleet) next() tenure.Term {
	f.t.Helper()
	select {
	case term := <-f.begun:
		return term
	case <-time.After(2 * soon):
		f.t.Fatalf("nobody has begun to lead for %v", 2*soon)
		return tenure.Term{}
	}
}

// stays fails the test if the term does not last that much longer, or another one begins.
func (f *fleet) stays(term tenure.Term, d time.Duration) {
	f.t.Helper()
	select {
	case next := <-f.begun:
		f.t.Fatalf("%s began to lead while the term of %s should have gone on", next.Leader, term.Leader)
	case <-time.After(d): // that nothing happens shows only in time
	}
	if !term.Valid() {
		f.t.Fatalf("the term of %s has ended", term.Leader)
	}
}

// ends waits for the end of a term.
func (f *fleet) ends(term tenure.Term) {
	f.t.Helper()
	eventually(f.t, "the term of "+term.Leader+" has ended", func() bool { return !term.Valid() })
}

// check fails the test if two terms overlapped, or a token did not rise.
func (f *fleet) check() {
	f.mu.Lock()
	defer f.mu.Unlock()
	slices.SortFunc(f.spans, func(a, b *span) int { return a.first.Compare(b.first) })
	for i, after := range f.spans[min(1, len(f.spans)):] {
		if before := f.spans[i]; !before.last.Before(after.first) || after.term.Token <= before.term.Token {
			f.t.Errorf("%v\nis followed by\n%v", before, after)
		}
	}
}

func (s *span) String() string {
	return fmt.Sprintf("%s, token %d, %s - %s", s.term.Leader, s.term.Token,
		s.first.Format("05.000000"), s.last.Format("05.000000"))
}
