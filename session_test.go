package tenure_test

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

// S5: processes with one ID and one seed, as copies of one configuration have, are told apart all the same.
func TestS5OneSeedIsNotOneSession(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a, _ := candidate(t, store, "same", tenure.WithRandom(rand.NewPCG(1, 2)))
		b, _ := candidate(t, store, "same", tenure.WithRandom(rand.NewPCG(1, 2)))
		if a.Status().Session == b.Status().Session {
			t.Fatalf("both have the session %q", a.Status().Session)
		}
		for _, c := range []*tenure.Candidate{a, b} {
			if err := c.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		expectLeader(t, a, b)
		stop(t, a, b)
	})
}
