package bench

import (
	"fmt"
	"math"
	"time"
)

// Finding compares what was measured with what the project wants.
type Finding struct {
	Store, What, Aim string
	Measured         string
	Met              bool
}

// below is a finding that a number has to stay under a limit.
func below(store, what string, measured, limit float64) Finding {
	return Finding{
		store, what, "below " + Number(limit), Number(measured), measured < limit && !math.IsNaN(measured),
	}
}

// findings returns one for each aim of a bed, as far as it was measured.
func (r *Result) findings() []Finding {
	var all []Finding
	if r.Bed.Aim.Renewal > 0 {
		ratio := Ratio(r.Renewal.Renewal.Median(), r.Renewal.Write.Median())
		all = append(all, below(r.Bed.Name, "bare writes in a renewal, median", ratio, r.Bed.Aim.Renewal))
	}
	for _, h := range r.HandOver {
		if r.Bed.Aim.HandOver > 0 {
			what := fmt.Sprintf("store round trips in a hand-over among %d, median", h.Candidates)
			all = append(all, below(r.Bed.Name, what, Ratio(h.Gap.Median(), h.Renewal.Median()), r.Bed.Aim.HandOver))
		}
	}
	all = append(all, r.loadFindings()...)
	all = append(all, r.lostFindings()...)
	all = append(all, r.herdFindings()...)
	return append(all, r.failOverFindings()...)
}

func (r *Result) loadFindings() []Finding {
	if !r.Bed.Aim.Silent || r.Load == nil {
		return nil
	}
	sent := r.Load.followerRequests()
	return []Finding{{r.Bed.Name, "requests of a follower at rest, a minute", "0", Number(sent), sent == 0}}
}

func (r *Result) herdFindings() []Finding {
	if r.Herd == nil || !r.Pushes || r.Herd.Changes == 0 {
		return nil
	}
	h := r.Herd
	accepted := float64(h.Accepted) / float64(h.Changes)
	return []Finding{
		{
			r.Bed.Name, fmt.Sprintf("accepted writes in a change of leader among %d", h.Candidates), "2: a release, a bid",
			Number(accepted), accepted == 2,
		},
		{
			r.Bed.Name, "rejected writes in the worst of them", fmt.Sprintf("at most %d", h.Candidates-1),
			fmt.Sprint(h.MostRejected), h.MostRejected < h.Candidates,
		},
	}
}

// lostFindings are of terms that ended by themselves, if there were any.
func (r *Result) lostFindings() []Finding {
	lost := 0
	for _, h := range r.HandOver {
		lost += len(h.Lost)
	}
	if r.Herd != nil {
		lost += len(r.Herd.Lost)
	}
	if lost == 0 {
		return nil
	}
	return []Finding{{r.Bed.Name, "terms that ended by themselves", "0", fmt.Sprint(lost), false}}
}

// failOverFindings compares with what the protocol promises: the TTL and two round trips, and a poll interval where
// the store does not push. A hundredth of it is for the round trips and for the machine.
func (r *Result) failOverFindings() []Finding {
	if r.FailOver == nil {
		return nil
	}
	limit := max(1, r.Bed.Aim.FailOver)
	if !r.Pushes {
		limit = 1.2
	}
	limit += 0.01
	f := r.FailOver
	return []Finding{below(r.Bed.Name, "TTLs in a fail-over, worst", Ratio(f.Gap.Percentile(100), f.TTL), limit)}
}

// followerRequests is what a follower sends in a minute, by the server's count if it has one: what it counted beyond
// the calls of the leader, each of which is one request.
func (l *Load) followerRequests() float64 {
	if all, ok := l.Counts[Requests]; ok {
		return max(0, all-float64(l.Leader.All())) / l.Minutes(l.Followers)
	}
	return float64(l.Follower.All()) / l.Minutes(l.Followers)
}

// worst is the longest of a series.
func worst(s Series) time.Duration { return s.Percentile(100) }
