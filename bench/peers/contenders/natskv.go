package contenders

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ali-assar/NATS-Leader-Election/leader"
	"github.com/nats-io/nats.go"

	"github.com/tenure-go/tenure/bench/peers"
)

// NATSLeaderElection is an election over a key-value bucket of NATS.
func NATSLeaderElection() peers.Peer {
	return peers.Peer{
		Name: "nats-leader-election", Module: "github.com/ali-assar/NATS-Leader-Election", Arena: natsArena(),
		About: "`Start`, `StopWithContext` with `DeleteKey`; TTL, heartbeat and validation as in its examples; among three " +
			"alone, since it panics if it is stopped while it tries to acquire",
		Lease: 10 * time.Second, Most: 3, Open: openNATSLeaderElection,
	}
}

func openNATSLeaderElection(_ context.Context, address string) (peers.Node, error) {
	host, _, _ := strings.Cut(strings.TrimPrefix(address, "nats://"), "/")
	conn, err := nats.Connect("nats://"+host, nats.Name("peer"))
	if err != nil {
		return nil, err
	}
	return &natsNode{conn}, nil
}

type natsNode struct{ conn *nats.Conn }

func (n *natsNode) Contend(election, id string, lease time.Duration) (peers.Contender, error) {
	js, err := n.conn.JetStream()
	if err != nil {
		return nil, err
	}
	bucket := fmt.Sprint("leaders-", lease.Milliseconds())
	if _, err := js.CreateKeyValue(&nats.KeyValueConfig{Bucket: bucket, TTL: lease}); err != nil {
		return nil, err
	}
	return &natsContender{conn: n.conn, config: leader.ElectionConfig{
		Bucket: bucket, Group: election, InstanceID: id, TTL: lease, HeartbeatInterval: lease / 10,
		ValidationInterval: lease / 2,
	}}, nil
}

func (n *natsNode) Close() error {
	n.conn.Close()
	return nil
}

// natsContender makes an election each time: one that was stopped cannot be started again.
type natsContender struct {
	conn     *nats.Conn
	config   leader.ElectionConfig
	election leader.Election
	cancel   context.CancelFunc
}

func (c *natsContender) Lead(ctx context.Context) error {
	election, err := leader.NewElectionWithConn(c.conn, c.config)
	if err != nil {
		return err
	}
	led := make(chan struct{}, 1)
	election.OnPromote(func(context.Context, string) {
		select {
		case led <- struct{}{}:
		default: // it leads again after it had lost its lead
		}
	})
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if err := election.Start(running); err != nil {
		cancel()
		return err
	}
	c.election, c.cancel = election, cancel
	return await(ctx, led)
}

func (c *natsContender) Release(ctx context.Context) error {
	if !c.election.IsLeader() {
		return errLost
	}
	return c.stop(ctx)
}

func (c *natsContender) stop(ctx context.Context) error {
	election := c.election
	c.election = nil
	defer c.cancel()
	return election.StopWithContext(ctx, leader.StopOptions{DeleteKey: true, WaitForDemote: true})
}

func (c *natsContender) Close() error {
	if c.election == nil {
		return nil
	}
	if !c.election.IsLeader() { // to stop one that tries to acquire makes it panic
		c.cancel()
		return nil
	}
	return c.stop(context.Background())
}
