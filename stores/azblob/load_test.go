package azblob

import (
	"testing"

	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/testserver"
)

// README.md and docs/poll-costs.md state what a candidate sends. A renewal comes after 0.9 thirds of the TTL at the
// earliest, a poll after 0.9 fifths.
func TestRequestsPerCandidateMinute(t *testing.T) {
	server := testserver.StartAzurite(t)
	party := func() fleet.Party {
		proxy := startProxy(t, server)
		return fleet.Party{
			Store: openStore(t, server, proxy.Addr()),
			Sent:  func() int { return proxy.Count("") },
		}
	}
	leads, follows := fleet.Load(t, party(), party())
	t.Logf("requests a minute at the default TTL: leader %.1f, follower %.1f", leads, follows)
	if leads == 0 || leads > 22 || follows == 0 || follows > 36 {
		t.Errorf("a leader sends %.1f requests a minute, a follower %.1f", leads, follows)
	}
}
