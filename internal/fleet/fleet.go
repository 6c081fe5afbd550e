// Package fleet runs real candidates of one election in tests, through whatever faults the test brings about, and
// checks that no two of them led, or worked, at the same time. It works on real time, since real servers do.
package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenure-go/tenure"
)

// TTL is that of the candidates: long enough for a busy machine to renew in time, short enough to wait for its end.
const TTL = 4 * time.Second

// Patient are the options of a candidate that renews often under a long lease: no pause of a busy machine ends its
// term, but a store that tells it something wrong does. It soon asks again what has no answer.
var Patient = []tenure.Option{
	tenure.WithTTL(time.Minute), tenure.WithRenewInterval(50 * time.Millisecond), tenure.WithCallTimeout(2 * time.Second),
}

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

	candidates []*tenure.Candidate
	stops      []func()
	stopped    []*atomic.Bool // whether each of the candidates has been told to stop

	mu      sync.Mutex
	terms   []*span
	renewed map[uint64]int // by token, as the leaders were told
	looks   int            // at the clock, by all terms together
}

// span is what is certain of a term: it was valid at its first and last instant, and so in between. Its work was told
// the cause of its end at the instant ended, if it has.
type span struct {
	term               tenure.Term
	first, last, ended time.Time
	cause              error
	looked, looksOver  int // how often the fleet had looked at the clock at the instants first and ended
}

// The pause between two looks at the clock, and how many of them may pass between the end of a lease, which is there
// for whoever asks, and the cancellation of its work, which somebody has to be awake for. The looks stand still while
// the process does, so that a stall counts as nothing, however long it is.
const (
	lookEvery  = 2 * time.Millisecond
	lateByMost = 100
)

// New returns a fleet without candidates.
func New(tb TB) *Fleet {
	return &Fleet{tb: tb, begun: make(chan tenure.Term, 1000), renewed: map[uint64]int{}}
}

// Stand lets a candidate run in the background. What it returns stops the candidate, which gives its seat back, and may
// be called more than once.
func (f *Fleet) Stand(store tenure.Store, id string, options ...tenure.Option) (stop func()) {
	f.tb.Helper()
	options = append([]tenure.Option{tenure.WithID(id), tenure.WithTTL(TTL), tenure.WithObserver(f.hear)}, options...)
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
	var stopped atomic.Bool
	stop = func() {
		stopped.Store(true)
		cancel()
		running.Wait()
	}
	f.tb.Cleanup(stop)
	f.candidates, f.stops, f.stopped = append(f.candidates, c), append(f.stops, stop), append(f.stopped, &stopped)
	return stop
}

// work leads. It looks at the clock often, and keeps instants before each look that found the term valid.
func (f *Fleet) work(ctx context.Context, term tenure.Term) error {
	now := time.Now()
	if !term.Valid() {
		<-ctx.Done() // to return earlier is to be done
		return nil
	}
	f.mu.Lock()
	s := &span{term: term, first: now, last: now, looked: f.looks}
	f.terms = append(f.terms, s)
	f.mu.Unlock()
	f.begun <- term
	f.watch(s)
	<-ctx.Done()
	f.mu.Lock()
	defer f.mu.Unlock()
	s.ended, s.cause, s.looksOver = time.Now(), context.Cause(ctx), f.looks
	return nil
}

// watch returns when the term is not valid any more.
func (f *Fleet) watch(s *span) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for ; ; <-look.C {
		now := time.Now()
		if !s.term.Valid() {
			return
		}
		f.mu.Lock()
		s.last = now
		f.looks++
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
	}
	select { // both may be there, and the term counts
	case term := <-f.begun:
		return term, true
	default:
		return tenure.Term{}, false
	}
}

// Leader returns the latest term, if it goes on.
func (f *Fleet) Leader() (tenure.Term, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.terms) == 0 {
		return tenure.Term{}, false
	}
	latest := f.terms[len(f.terms)-1].term
	return latest, latest.Valid()
}

// Await waits until somebody leads under a token above the given one, perhaps by now, and returns the term.
func (f *Fleet) Await(above uint64) (term tenure.Term) {
	f.tb.Helper()
	f.eventually(fmt.Sprintf("somebody leads with a token above %d", above), func() (leads bool) {
		term, leads = f.Leader()
		return leads && term.Token > above
	})
	return term
}

// Lasting waits until a term under a token above the given one has been renewed n times, and returns it. Terms that end
// before do not count.
func (f *Fleet) Lasting(above uint64, n int) (term tenure.Term) {
	f.tb.Helper()
	var begun int
	f.eventually(fmt.Sprintf("a term with a token above %d is renewed %d times", above, n), func() bool {
		now, leads := f.Leader()
		if !leads || now.Token <= above {
			return false
		}
		if now.Token != term.Token {
			term, begun = now, f.Renewals(now)
		}
		return f.Renewals(term) >= begun+n
	})
	return term
}

// Stop stops the leader of a term, which gives its seat back.
func (f *Fleet) Stop(term tenure.Term) {
	for i, c := range f.candidates {
		if c.Status().ID == term.Leader {
			f.stops[i]()
		}
	}
}

// HandsOver stops the leader of a term, and returns the term of another candidate that follows.
func (f *Fleet) HandsOver(term tenure.Term) (next tenure.Term) {
	f.tb.Helper()
	f.Stop(term)
	if next = f.Await(term.Token); next.Leader == term.Leader {
		f.tb.Errorf("%s leads again, stopped", term.Leader)
	}
	return next
}

// Known waits until all candidates that stand have seen a term, or a later one: none of them has a bid under way.
func (f *Fleet) Known(term tenure.Term) {
	f.tb.Helper()
	f.eventually("all have seen the term of "+term.Leader, func() bool {
		for i, c := range f.candidates {
			if !f.stopped[i].Load() && c.Status().Record.Token < term.Token {
				return false
			}
		}
		return true
	})
}

// Renewed waits until a term has been renewed n more times, and fails the test if it ends before.
func (f *Fleet) Renewed(term tenure.Term, n int) {
	f.tb.Helper()
	begun := f.Renewals(term)
	f.eventually(fmt.Sprintf("%s has renewed %d times", term.Leader, n), func() bool {
		f.Stays(term, 0)
		return f.Renewals(term) >= begun+n
	})
}

// hear counts renewals.
func (f *Fleet) hear(e tenure.Event) {
	if e.Kind != tenure.EventRenewed {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.renewed[e.Token]++
}

// Renewals returns how often a term was renewed as far as its leader knows. The numbers in the record do not tell,
// since there are gaps between them.
func (f *Fleet) Renewals(term tenure.Term) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.renewed[term.Token]
}

// Stays checks that a term goes on for that much longer, and that no other one begins.
func (f *Fleet) Stays(term tenure.Term, d time.Duration) {
	f.tb.Helper()
	if next, begun := f.Within(d); begun {
		f.tb.Fatalf("%s began to lead while the term of %s should have gone on", next.Leader, term.Leader)
	}
	if !term.Valid() {
		f.tb.Fatalf("the term of %s has ended", term.Leader)
	}
}

// Over waits for the end of a term.
func (f *Fleet) Over(term tenure.Term) {
	f.tb.Helper()
	f.eventually("the term of "+term.Leader+" has ended", func() bool { return !term.Valid() })
}

func (f *Fleet) eventually(what string, holds func() bool) {
	f.tb.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) { // no event tells
		if time.Now().After(deadline) {
			f.tb.Fatalf("after %v it was not so that %s", patience, what)
		}
	}
}

// Cause waits until the work of a term has been told that the term is over, and returns why.
func (f *Fleet) Cause(term tenure.Term) (cause error) {
	f.tb.Helper()
	f.eventually("the work of "+term.Leader+" is told that its term is over", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, s := range f.terms {
			if s.term.Token == term.Token {
				cause = s.cause
			}
		}
		return cause != nil
	})
	return cause
}

// Causes returns why those terms ended that have.
func (f *Fleet) Causes() (causes []error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.terms {
		if s.cause != nil {
			causes = append(causes, s.cause)
		}
	}
	return causes
}

// Check stops all candidates, and fails the test if two terms overlapped, if the work of one went on into the next, or
// if a token did not rise. After a lease that ran out the work may end with its successor's begin, in any order, if the
// process was stalled then.
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
		apart := before.last.Before(after.first) && before.worksOnlyBefore(after)
		if !apart || after.term.Token <= before.term.Token {
			f.tb.Errorf("%v\nis followed by\n%v", before, after)
		}
	}
}

// worksOnlyBefore reports whether the work of a term ended before the next term, or as soon as the process ran again.
func (s *span) worksOnlyBefore(next *span) bool {
	stalled := errors.Is(s.cause, tenure.ErrLeaseExpired) && s.looksOver-next.looked <= lateByMost
	return s.ended.Before(next.first) || stalled
}

func (s *span) String() string {
	const layout = "05.000000"
	return fmt.Sprintf("%s, token %d, valid %s - %s, work until %s", s.term.Leader, s.term.Token,
		s.first.Format(layout), s.last.Format(layout), s.ended.Format(layout))
}
