package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/tenure-go/tenure"
)

// FailOver is the time from the death of a leader's process to the start of the next leader's work.
type FailOver struct {
	TTL       time.Duration
	Followers int
	Gap       Series
}

// measureFailOver kills leading processes with a signal that they cannot catch. The deaths are spread evenly over the
// interval between renewals.
func (r *rig) measureFailOver(
	ctx context.Context, followers, deaths int, ttl time.Duration,
) (FailOver, error) {
	result := FailOver{TTL: ttl, Followers: followers}
	phases := rand.Perm(deaths)
	for _, phase := range phases {
		alive := time.Duration((float64(phase) + rand.Float64()) / float64(deaths) * float64(ttl) / 3)
		gap, err := r.oneDeath(ctx, followers, ttl, alive)
		if err != nil {
			return result, err
		}
		result.Gap = append(result.Gap, gap)
	}
	return result, nil
}

// oneDeath has a process lead, lets it live for a while after the others have seen it, and kills it.
func (r *rig) oneDeath(
	ctx context.Context, followers int, ttl, alive time.Duration,
) (_ time.Duration, err error) {
	election := r.election("fail-over")
	leader, err := StartLeader(ctx, LeadCommand, r.bed.Name, r.server.Address(), election, ttl.String())
	if err != nil {
		return 0, err
	}
	defer leader.Kill()
	contest, err := r.standing(ctx, election, followers, followers, tenure.WithTTL(ttl))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, contest.close()) }()
	if err := contest.seen(ctx, childID); err != nil {
		return 0, err
	}
	if err := wait(ctx, ttl/3+alive); err != nil { // a renewal at least: none stands on the first sight alone
		return 0, err
	}
	died := time.Now()
	leader.Kill()
	next, err := contest.next(ctx, 2*ttl)
	if err != nil {
		return 0, fmt.Errorf("after a death: %w", err)
	}
	return next.at.Sub(died), nil
}

// seen waits until every candidate knows who leads.
func (c *contest) seen(ctx context.Context, leader string) error {
	for deadline := time.Now().Add(patience); ; {
		known := 0
		for _, candidate := range c.candidates {
			if candidate.Status().Record.Leader == leader {
				known++
			}
		}
		switch {
		case known == len(c.candidates):
			return nil
		case time.Now().After(deadline):
			return errors.New("the candidates do not see the leader")
		}
		if err := wait(ctx, time.Millisecond); err != nil {
			return err
		}
	}
}

// childID is the ID of a candidate that is a process of its own.
const childID = "child"

// Lead stands for an election in a process of its own, for [Run] to kill. The arguments are those with which Run starts
// its own program again: the bed's name, the address, the election and the TTL. It prints a line when it leads, and
// ends with the input.
func Lead(ctx context.Context, beds []Bed, args []string, in io.Reader, out io.Writer) error {
	if len(args) != 4 {
		return fmt.Errorf("lead wants a bed, an address, an election and a TTL, not %d arguments", len(args))
	}
	bed, err := Stores(beds).Find(args[0])
	if err != nil {
		return err
	}
	ttl, err := time.ParseDuration(args[3])
	if err != nil {
		return err
	}
	store, err := bed.Open(ctx, args[1])
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	candidate, err := tenure.New(store, args[2], tenure.WithID(childID), tenure.WithTTL(ttl))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, in)
		cancel()
	}()
	return candidate.Run(ctx, func(ctx context.Context, _ tenure.Term) error {
		fmt.Fprintln(out, Leads)
		<-ctx.Done()
		return nil
	})
}

// Leads is the line that a process prints when it leads.
const Leads = "leads"
