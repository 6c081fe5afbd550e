package bench

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// Plan says how much is measured.
type Plan struct {
	// Renewals is how many renewals are timed, and then how many the server counts.
	Renewals int
	// Candidates are the numbers of candidates of the elections in which leadership is handed over.
	Candidates []int
	// HandOvers is how many hand-overs are timed with each number of candidates; Polled how many on stores that do not
	// push, where each takes up to a poll interval.
	HandOvers, Polled int
	// Herd is the number of candidates of the election whose changes of leader are counted; Changes is how many.
	Herd, Changes int
	// Processes is how many stores the candidates of an election share at most.
	Processes int
	// Load is for how long candidates at rest are watched; Followers is how many of them follow.
	Load      time.Duration
	Followers int
	// Deaths is how many leading processes are killed; TTL is that of their elections.
	Deaths int
	TTL    time.Duration
	// Leaders is how many renew at once as fast as they can, for WriteFor in each of WriteRounds.
	Leaders, WriteRounds int
	WriteFor             time.Duration
	// Log is told about the progress.
	Log io.Writer
}

// FullPlan is what docs/benchmarks.md is made with.
func FullPlan() Plan {
	return Plan{
		Renewals: 1000, Candidates: []int{3, 50}, HandOvers: 200, Polled: 8, Herd: 500, Changes: 10, Processes: 25,
		Load: time.Minute, Followers: 9, Deaths: 9, TTL: 2 * time.Second,
		Leaders: 32, WriteRounds: 5, WriteFor: 500 * time.Millisecond, Log: io.Discard,
	}
}

// ShortPlan takes seconds and shows no more than that everything works.
func ShortPlan() Plan {
	return Plan{
		Renewals: 20, Candidates: []int{3}, HandOvers: 5, Polled: 2, Herd: 20, Changes: 2, Processes: 5,
		Load: time.Second, Followers: 2, Deaths: 1, TTL: time.Second,
		Leaders: 4, WriteRounds: 1, WriteFor: 50 * time.Millisecond, Log: io.Discard,
	}
}

// Check returns an error if something could not be measured so.
func (p Plan) Check() error {
	for _, n := range []int{
		p.Renewals, p.HandOvers, p.Polled, p.Herd - 1, p.Changes, p.Processes, p.Followers, p.Deaths, p.Leaders,
		p.WriteRounds, len(p.Candidates),
	} {
		if n < 1 {
			return errors.New("every number of the plan must be at least 1, the herd 2")
		}
	}
	if slices.Min(p.Candidates) < 2 {
		return errors.New("a hand-over takes two candidates")
	}
	if p.Load <= 0 || p.WriteFor <= 0 {
		return errors.New("what is measured for a time needs one above zero")
	}
	return nil
}

func (p Plan) logf(format string, args ...any) {
	fmt.Fprintf(p.Log, "%s  %s\n", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}
