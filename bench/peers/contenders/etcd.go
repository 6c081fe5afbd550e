package contenders

import (
	"context"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/zap"

	"github.com/tenure-go/tenure/bench/peers"
)

// EtcdConcurrency is the election of etcd's own client.
func EtcdConcurrency() peers.Peer {
	return peers.Peer{
		Name: "etcd-concurrency", Module: "go.etcd.io/etcd/client/v3", Arena: etcdArena(), Lease: 60 * time.Second,
		About: "`concurrency.Election` in a session of each candidate, `Campaign` and `Resign`", Most: 500,
		Open: openEtcd,
	}
}

func openEtcd(_ context.Context, address string) (peers.Node, error) {
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{"http://" + strings.TrimPrefix(address, "etcd://")}, DialTimeout: 10 * time.Second,
		Logger: zap.NewNop(),
	})
	if err != nil {
		return nil, err
	}
	return &etcdNode{client}, nil
}

type etcdNode struct{ client *clientv3.Client }

func (n *etcdNode) Contend(election, id string, lease time.Duration) (peers.Contender, error) {
	return &etcdContender{client: n.client, election: election, id: id, lease: lease}, nil
}

func (n *etcdNode) Close() error { return n.client.Close() }

type etcdContender struct {
	client       *clientv3.Client
	election, id string
	lease        time.Duration
	session      *concurrency.Session
	seat         *concurrency.Election
}

func (c *etcdContender) Lead(ctx context.Context) error {
	if c.session == nil {
		session, err := concurrency.NewSession(c.client, concurrency.WithTTL(int(c.lease/time.Second)))
		if err != nil {
			return err
		}
		c.session, c.seat = session, concurrency.NewElection(session, "/"+c.election)
	}
	return c.seat.Campaign(ctx, c.id)
}

func (c *etcdContender) Release(ctx context.Context) error { return c.seat.Resign(ctx) }

func (c *etcdContender) Close() error {
	if c.session == nil {
		return nil
	}
	return c.session.Close()
}
