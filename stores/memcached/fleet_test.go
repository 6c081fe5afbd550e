package memcached

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
)

// fleet is real candidates of one election, and the terms that they led.
type fleet struct {
	t     *testing.T
	begun chan tenure.Term

	mu    sync.Mutex
	terms []*span
}

// span is what is certain of a term: it was valid at its first and last instant, and so in between.
type span struct {
	leader      string
	token       uint64
	first, last time.Time
}

const fleetTTL = 2 * time.Second

func newFleet(t *testing.T) *fleet {
	t.Helper()
	return &fleet{t: t, begun: make(chan tenure.Term, 100)}
}

// stand lets a candidate run in the background. What it returns stops the candidate, which gives its seat back, and may
// be called more than once.
func (f *fleet) stand(store tenure.Store, id string, options ...tenure.Option) (stop func()) {
	f.t.Helper()
	options = append([]tenure.Option{tenure.WithID(id), tenure.WithTTL(fleetTTL)}, options...)
	c, err := tenure.New(store, "fleet", options...)
	if err != nil {
		f.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := c.Run(ctx, f.work); ctx.Err() == nil {
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

// work leads. It looks at the clock often, and keeps instants before each look that found the term valid.
func (f *fleet) work(ctx context.Context, term tenure.Term) error {
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

// next waits for the next term.
func (f *fleet) next() tenure.Term {
	f.t.Helper()
	select {
	case term := <-f.begun:
		return term
	case <-time.After(time.Minute):
		f.t.Fatal("nobody has led for a minute")
		return tenure.Term{}
	}
}

// over waits for the end of a term.
func (f *fleet) over(term tenure.Term) {
	f.t.Helper()
	for deadline := time.Now().Add(time.Minute); term.Valid(); time.Sleep(5 * time.Millisecond) { // no event tells
		if time.Now().After(deadline) {
			f.t.Fatalf("the term of %s has not ended after a minute", term.Leader)
		}
	}
}

// check fails the test if two terms overlapped, or a token did not rise.
func (f *fleet) check() {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	terms := slices.SortedFunc(slices.Values(f.terms), func(a, b *span) int { return a.first.Compare(b.first) })
	for i := 1; i < len(terms); i++ {
		before, after := terms[i-1], terms[i]
		if !before.last.Before(after.first) || after.token <= before.token {
			f.t.Errorf("%v\nis followed by\n%v", before, after)
		}
	}
}

func (s *span) String() string {
	return fmt.Sprintf("%s, token %d, %v - %v", s.leader, s.token,
		s.first.Format("05.000000"), s.last.Format("05.000000"))
}
