package kubernetes

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/scenario"
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

// A herd: when the leader resigns the API server gets one release, one bid that it accepts, of each of the others at
// most one that it rejects, and nothing else.
func TestHerd(t *testing.T) {
	k := shared.Server(t)
	s, w := wired(t, k, newNamespace(t, k))
	var accepted atomic.Int64
	w.set(func(request *http.Request, next http.RoundTripper) (*http.Response, error) {
		response, err := next.RoundTrip(request)
		if err == nil && request.Method != http.MethodGet && response.StatusCode < 300 {
			accepted.Add(1)
		}
		return response, err
	})
	scenario.Herd{
		Candidates: 50, Stores: []tenure.Store{s}, Sent: w.seen.Load, Tried: w.seen.Load, Accepted: accepted.Load,
	}.Check(t)
}
