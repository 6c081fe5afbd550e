package kubernetes

import (
	"fmt"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/storetest"
)

// Candidates that stand by send nothing while the watch delivers, and a leader one request for each renewal.
func TestFollowersAreSilent(t *testing.T) {
	k := shared.Server(t)
	f := fleet.New(t)
	defer f.Check()
	namespace := newNamespace(t, k)
	often := []tenure.Option{tenure.WithTTL(time.Minute), tenure.WithRenewInterval(200 * time.Millisecond)}
	leading, leader := wired(t, k, namespace)
	f.Stand(leading, "leader", often...)
	term := f.Next()
	following, follower := wired(t, k, namespace)
	for i := range 9 {
		f.Stand(following, fmt.Sprint("follower-", i), often...)
	}
	f.Known(term)
	f.Renewed(term, 3)
	renewals := func() int64 {
		r := storetest.Load(t, following, fleet.Election).Record
		return int64(r.Renewals) //nolint:gosec // it is small
	}
	before := renewals()
	leader.seen.Store(0)
	follower.seen.Store(0)
	f.Renewed(term, 15)
	sent, byFollowers := leader.seen.Load(), follower.seen.Load()
	written := renewals() - before + 2 // the count may have begun and ended in between two renewals
	if byFollowers != 0 {
		t.Errorf("9 followers have sent %d requests while the leader renewed %d times", byFollowers, written)
	}
	if sent > written {
		t.Errorf("the leader has sent %d requests for %d renewals", sent, written)
	}
}

// A herd: when the leader resigns the API server gets one release, one bid that it accepts, and of each of the others
// at most one that it rejects.
func TestHerd(t *testing.T) {
	const candidates = 50
	k := shared.Server(t)
	f := fleet.New(t)
	defer f.Check()
	s, w := wired(t, k, newNamespace(t, k))
	for i := range candidates {
		f.Stand(s, fmt.Sprint("node-", i), tenure.WithTTL(time.Hour)) // so that nothing is renewed within the test
	}
	leader := f.Next()
	f.Known(leader)
	settle := func() int64 {
		var last int64 = -1
		storetest.Eventually(t, "no more is sent", func() bool {
			before := last
			last = w.seen.Load()
			if before != last {
				time.Sleep(300 * time.Millisecond) // nobody tells when a herd has calmed down
			}
			return before == last
		})
		return last
	}
	before := settle()
	for n := range 3 {
		f.Stop(leader)
		leader = f.Next()
		f.Known(leader)
		now := settle()
		if sent, most := now-before, int64(candidates-n); sent > most {
			t.Errorf("change %d: %d requests were sent, more than %d", n, sent, most)
		} else {
			t.Logf("change %d: %d requests were sent", n, sent)
		}
		before = now
	}
}
