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
	const leases = 5
	f := New(tb)
	f.Stand(leader.Store, "leader")
	f.Next()
	f.Stand(follower.Store, "follower")
	time.Sleep(TTL) // what a start costs is over
	before := [2]int{leader.Sent(), follower.Sent()}
	time.Sleep(leases * TTL) // a rate is counted over time
	after := [2]int{leader.Sent(), follower.Sent()}
	f.Check()
	perMinute := float64(time.Minute) / float64(tenure.DefaultTTL) / leases
	return float64(after[0]-before[0]) * perMinute, float64(after[1]-before[1]) * perMinute
}
