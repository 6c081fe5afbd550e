package peers

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// Plan says how much is measured.
type Plan struct {
	// HandOvers is how many hand-overs among three are timed, for HandOverFor at most where followers poll.
	HandOvers   int
	HandOverFor time.Duration
	// Crowds are the larger numbers of candidates; of each, CrowdRounds hand-overs are timed, for CrowdFor at most.
	// Processes is how many processes' connections the candidates of one election share at most.
	Crowds      []int
	CrowdRounds int
	CrowdFor    time.Duration
	Processes   int
	// Load is for how long candidates at rest are watched, first the leader alone and then with Followers.
	Load      time.Duration
	Followers int
	// Deaths is how many leading processes are killed at the equal lease, DefaultDeaths at defaults, some of which are
	// long.
	Deaths, DefaultDeaths int
	// Lease is the one with which all are compared. Defaults says that leases at defaults are measured too.
	Lease    time.Duration
	Defaults bool
	// Log is told about the progress.
	Log io.Writer
}

// FullPlan is what docs/peers.md is made with. It takes a quarter of an hour.
func FullPlan() Plan {
	return Plan{
		HandOvers: 60, HandOverFor: time.Minute, Crowds: []int{10, 50, 200, 500}, CrowdRounds: 20,
		CrowdFor: 3 * time.Second, Processes: 25, Load: time.Minute, Followers: 9, Deaths: 6, DefaultDeaths: 2,
		Lease: 6 * time.Second, Defaults: true, Log: io.Discard,
	}
}

// ShortPlan takes a minute and shows no more than that everything works.
func ShortPlan() Plan {
	return Plan{
		HandOvers: 3, HandOverFor: 2 * time.Second, Crowds: []int{10}, CrowdRounds: 2, CrowdFor: time.Second, Processes: 25,
		Load: 2 * time.Second, Followers: 2, Deaths: 1, DefaultDeaths: 1,
		Lease: 6 * time.Second, Log: io.Discard,
	}
}

// Check returns an error if something could not be measured so.
func (p Plan) Check() error {
	for _, n := range []int{p.HandOvers, p.CrowdRounds, p.Processes, p.Followers, p.Deaths, p.DefaultDeaths} {
		if n < 1 {
			return errors.New("every number of the plan must be at least 1")
		}
	}
	if min(p.Load, p.HandOverFor, p.CrowdFor, p.Lease) <= 0 {
		return errors.New("what is measured for a time needs one above zero")
	}
	return nil
}

func (p Plan) logf(format string, args ...any) {
	fmt.Fprintf(p.Log, "%s  %s\n", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}
