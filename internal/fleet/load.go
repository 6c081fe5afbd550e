package fleet

import (
	"time"

	"github.com/tenure-go/tenure"
)

// Party is one candidate's store, with a count of the requests that it has sent.
type Party struct {
	Store tenure.Store
	Sent  func() int
}

// Load returns how many requests a leader and a follower send in a minute at the default TTL, while nothing happens.
// All intervals are shares of the TTL, so it counts for a few short leases.
func Load(tb TB, leader, follower Party) (leads, follows float64) {
	tb.Helper()
	const ttl, leases = 5 * time.Second, 5
	f := New(tb)
	f.Stand(leader.Store, "leader", tenure.WithTTL(ttl))
	f.Next()
	f.Stand(follower.Store, "follower", tenure.WithTTL(ttl))
	time.Sleep(ttl) // what a start costs is over
	before, began := [2]int{leader.Sent(), follower.Sent()}, time.Now()
	time.Sleep(leases * ttl) // a rate is counted over time
	after, lasted := [2]int{leader.Sent(), follower.Sent()}, time.Since(began)
	f.Check()
	perMinute := float64(time.Minute) / float64(tenure.DefaultTTL) * float64(ttl) / float64(lasted)
	return float64(after[0]-before[0]) * perMinute, float64(after[1]-before[1]) * perMinute
}
