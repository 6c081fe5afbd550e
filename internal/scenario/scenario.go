// Package scenario has candidates of one election live through what befalls the server of their store and the way to
// it, and checks what has to hold over every store. The test of a store says how the store is opened, and what befalls
// it.
package scenario

import (
	"fmt"
	"slices"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testserver"
)

// TB is what this package needs of a test.
type TB interface {
	testserver.TB
	storetest.TB
	fleet.TB
}

// Open returns a store with a client of its own, both of which end with the test. All that one function returns hold
// the same elections.
type Open func() tenure.Store

// three returns a fleet of three candidates, each with a store of its own. Where changes are pushed they depend on it:
// one whose watch is interrupted and not restored would poll after minutes. Elsewhere they poll often.
func three(t TB, open Open, options ...tenure.Option) *fleet.Fleet {
	t.Helper()
	f := fleet.New(t)
	for i := range 3 {
		store, pace := open(), []tenure.Option(nil)
		if _, pushes := store.(tenure.Watcher); !pushes {
			pace = []tenure.Option{tenure.WithPollInterval(time.Second)}
		}
		f.Stand(store, fmt.Sprint("node-", i), slices.Concat(options, pace)...)
	}
	return f
}

// HandOver checks that a leader that resigns is followed at once, because the others are told of it.
func HandOver(t TB, open Open) {
	t.Helper()
	f := three(t, open, tenure.WithTTL(time.Hour))
	defer f.Check()
	first := f.Next()
	f.Known(first)
	if second := f.HandsOver(first); second.Token != first.Token+1 {
		t.Errorf("token %d follows %d", second.Token, first.Token)
	}
}

// Forgets checks that candidates go on above the token that they have seen when their store has lost everything. A past
// of many terms shows if they do not.
func Forgets(t TB, open Open, forget func()) {
	t.Helper()
	storetest.Swap(t, open(), fleet.Election, "", tenure.Record{Token: 100, TTL: fleet.TTL})
	f := three(t, open)
	defer f.Check()
	first := f.Next()
	f.Known(first)
	forget()
	second := f.Next()
	if second.Token <= first.Token {
		t.Errorf("token %d follows %d", second.Token, first.Token)
	}
	f.Renewed(second, 3)
}
