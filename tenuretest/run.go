package tenuretest

import (
	"sync"
	"testing"

	"github.com/tenure-go/tenure"
)

// atOnce bounds how many rules are checked at the same time.
const atOnce = 8

// Option adds to what [Run] can check.
type Option func(*wiring)

// wiring is how the kit gets at the store.
type wiring struct {
	open   func(t *testing.T) tenure.Store
	second func(t *testing.T) tenure.Store
	remove func(t *testing.T, election string)
}

// WithSecond gives the kit a second, independent client of the data that the store under test works on, with its own
// connections and caches. If the function for [Run] opens a new client of the same data at each call, it can be passed
// here too. Without it the rules named SECOND are skipped.
func WithSecond(open func(t *testing.T) tenure.Store) Option {
	return func(w *wiring) { w.second = open }
}

// WithDelete gives the kit a way to delete an election's record physically, behind the store's back, as somebody with
// access to its data could do by hand. It returns after the deletion, and fails t if it cannot. Without it the rule
// VERSION-DELETED is skipped.
func WithDelete(remove func(t *testing.T, election string)) Option {
	return func(w *wiring) { w.remove = remove }
}

// Run checks the store that open returns against the rules of the store contract, each in a subtest named by the
// rule's ID. It returns when all are done.
//
// open is called once for each rule, with the rule's own t, and several rules run at once. It may return new clients of
// the same data, stores with fresh data, or one and the same store each time; it closes what it opens by t.Cleanup.
// No call waits longer than 30 seconds for something that ought to happen; a correct store needs a fraction of a
// second in all, plus its own latency.
func Run(t *testing.T, open func(t *testing.T) tenure.Store, options ...Option) {
	t.Helper()
	w := &wiring{open: open}
	for _, option := range options {
		option(w)
	}
	w.together(t)
	w.alone(t)
}

// together runs the rules that do not disturb each other at the same time. Each t.Run returns when its rule is
// checked, unlike that of a test marked with t.Parallel: what the caller closes by defer stays open until then.
func (w *wiring) together(t *testing.T) {
	var running sync.WaitGroup
	defer running.Wait()
	slots := make(chan struct{}, atOnce)
	for _, rule := range rules {
		if !rule.alone {
			slots <- struct{}{}
			running.Go(func() {
				defer func() { <-slots }()
				t.Run(rule.id, func(t *testing.T) { w.check(t, rule) })
			})
		}
	}
}

func (w *wiring) alone(t *testing.T) {
	for _, rule := range rules {
		if rule.alone {
			t.Run(rule.id, func(t *testing.T) { w.check(t, rule) })
		}
	}
}

func (w *wiring) check(t *testing.T, rule rule) {
	c := w.trial(t, rule)
	if lack := c.lack(); lack != "" {
		t.Skip(lack)
	}
	c.check()
}

func (w *wiring) trial(t *testing.T, rule rule) *trial {
	c := &trial{reporter: t, rule: rule, store: w.open(t)}
	if c.store == nil {
		t.Fatal("the function given to tenuretest.Run returned no store")
	}
	if w.second != nil {
		c.second = func() tenure.Store { return w.second(t) }
	}
	if w.remove != nil {
		c.remove = func(election string) { w.remove(t, election) }
	}
	return c
}
