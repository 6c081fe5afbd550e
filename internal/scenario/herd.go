package scenario

import (
	"fmt"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/storetest"
)

// Herd is many candidates of one election, whom the store tells of changes, and what can be counted of them.
type Herd struct {
	Candidates int
	Stores     []tenure.Store // that the candidates share
	// Sent is how many requests there were, of whatever kind. It stands still when the herd has calmed down.
	Sent func() int64
	// Tried is how many writes there were, and Accepted how many of them were accepted.
	Tried, Accepted func() int64
	// Sends is how often a write may be sent until it is rejected; once if zero.
	Sends int64
}

// Check checks that each change of leader costs a release, one bid that is accepted, and of each of the other
// candidates one at most that is rejected.
func (h Herd) Check(t TB) {
	t.Helper()
	f := fleet.New(t)
	defer f.Check()
	for i := range h.Candidates {
		// Nothing is renewed within the test, so that all writes are those of changes.
		f.Stand(h.Stores[i%len(h.Stores)], fmt.Sprint("node-", i), tenure.WithTTL(time.Hour))
	}
	leader := f.Next()
	f.Known(leader)
	h.calm(t)
	triedBefore, acceptedBefore := h.Tried(), h.Accepted()
	const changes = 3
	var others int64
	for n := range changes {
		f.Stop(leader)
		leader = f.Next()
		f.Known(leader)
		h.calm(t)
		others += int64(h.Candidates - n - 2)
	}
	// Not each change by itself: servers may count what they did only after they have answered.
	accepted := h.Accepted() - acceptedBefore
	if accepted != 2*changes {
		t.Errorf("%d writes were accepted, want the releases and bids of %d changes", accepted, changes)
	}
	rejected, most := h.Tried()-triedBefore-accepted, others*max(h.Sends, 1)
	if rejected < 0 || rejected > most {
		t.Errorf("%d writes were rejected, want %d at most", rejected, most)
	}
	t.Logf("%d changes of leader among %d: %d writes were accepted, %d rejected",
		changes, h.Candidates, accepted, rejected)
}

// calm waits until nothing is sent any more.
func (h Herd) calm(t TB) {
	t.Helper()
	var last int64 = -1
	storetest.Eventually(t, "no more is sent", func() bool {
		before := last
		if last = h.Sent(); before != last {
			time.Sleep(200 * time.Millisecond) // nobody tells when a herd has calmed down
		}
		return before == last
	})
}
