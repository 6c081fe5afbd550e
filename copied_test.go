package tenure_test

import (
	"errors"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

// S1, S6: a copy of the process, from a snapshot that was restored twice, has its ID, session and token. What it renews
// ends the term here, and is from then on another's: it is waited for like any other, and never released.
func TestS1CopyOfTheProcessIsFoundOut(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a, d := start(t, store, "a")
		session := a.Status().Session
		before, err := store.Load(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		renewed := before.Record
		renewed.Renewals += 12345
		if _, err := store.CompareAndSwap(t.Context(), name, before.Version, renewed); err != nil {
			t.Fatal(err)
		}
		time.Sleep(ttl / 3)
		expectLeader(t, nil, a)
		if e, _ := d.find(tenure.EventEnded); !errors.Is(e.Err, tenure.ErrDeposed) {
			t.Errorf("the term ended for %v", e.Err)
		}
		if _, ok := d.find(tenure.EventCopied); !ok || a.Status().Session == session || renewed.Session != session {
			t.Errorf("told %v; the session was %s and is %s", ok, session, a.Status().Session)
		}
		time.Sleep(wait - ttl/3 - time.Millisecond)
		expectLeader(t, nil, a)
		time.Sleep(time.Second)
		expectLeader(t, a)
		if r := record(t, store); r.Token != 2 || r.Session != a.Status().Session {
			t.Errorf("after a lease of silence: %+v", r)
		}
		stop(t, a)
	})
}
