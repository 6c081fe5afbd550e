package peers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/tenure-go/tenure/bench"
)

// FailOver is the time from the death of a leader's process to the start of the next leader's lead.
type FailOver struct {
	Lease     time.Duration
	Followers int
	Gap       bench.Series
}

// measureFailOver spreads the deaths evenly over half a lease, after more than a third of it: each renews in between.
func (r *rig) measureFailOver(ctx context.Context, followers, deaths int) (FailOver, error) {
	result := FailOver{Lease: r.lease, Followers: followers}
	for _, phase := range rand.Perm(deaths) {
		phase := (float64(phase) + rand.Float64()) / float64(deaths)
		gap, err := r.oneDeath(ctx, followers, time.Duration((0.4+phase/2)*float64(r.lease)))
		if err != nil {
			return result, err
		}
		result.Gap = append(result.Gap, gap)
	}
	return result, nil
}

// oneDeath has a process lead, lets it live for a while after the others stand, and kills it.
func (r *rig) oneDeath(ctx context.Context, followers int, alive time.Duration) (_ time.Duration, err error) {
	c, err := r.gather(ctx, "fail-over", followers, followers)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	leader, err := bench.StartLeader(ctx, bench.LeadCommand, r.peer.Name, r.server.Address(),
		fmt.Sprint("fail-over-", r.names), r.lease.String())
	if err != nil {
		return 0, err
	}
	defer leader.Kill()
	for i := range followers {
		c.stand(i)
	}
	if err := wait(ctx, alive); err != nil {
		return 0, err
	}
	select {
	case l := <-c.led:
		return 0, fmt.Errorf("node-%d came to lead beside the process that leads (%w)", l.who, errors.Join(l.err))
	default:
	}
	died := time.Now()
	leader.Kill()
	next, err := c.next(8 * r.lease)
	if err != nil {
		return 0, fmt.Errorf("after a death: %w", err)
	}
	return next.at.Sub(died), nil
}

// Lead stands for an election in a process of its own, for [Run] to kill: its arguments are those with which Run starts
// its own program again. It prints a line when it leads, and ends with the input.
func Lead(ctx context.Context, all []Peer, args []string, in io.Reader, out io.Writer) error {
	if len(args) != 4 {
		return fmt.Errorf("lead wants a contender, an address, an election and a lease, not %d arguments", len(args))
	}
	peer, err := Contenders(all).Find(args[0])
	if err != nil {
		return err
	}
	lease, err := time.ParseDuration(args[3])
	if err != nil {
		return err
	}
	node, err := peer.Open(ctx, args[1])
	if err != nil {
		return err
	}
	contender, err := node.Contend(args[2], "child", lease)
	if err != nil {
		return errors.Join(err, node.Close())
	}
	if err := contender.Lead(ctx); err != nil {
		return errors.Join(err, node.Close())
	}
	fmt.Fprintln(out, bench.Leads)
	_, _ = io.Copy(io.Discard, in)
	return errors.Join(contender.Close(), node.Close())
}
