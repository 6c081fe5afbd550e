package contenders

import (
	"context"
	"net"
	"net/url"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	tenureclientgo "github.com/tenure-go/tenure/adapters/clientgo"
	"github.com/tenure-go/tenure/bench/beds"
	"github.com/tenure-go/tenure/bench/peers"
)

const aboutClientGo = "`leaderelection` with `ReleaseOnCancel`, renew deadline and retry period in the proportion " +
	"of its usual 15 s, 10 s and 2 s"

// ClientGo is Kubernetes' own election, over a Lease of a real API server.
func ClientGo() peers.Peer {
	return peers.Peer{
		Name: "client-go", Module: "k8s.io/client-go", Arena: kubernetesArena(), Lease: 15 * time.Second, Most: 200,
		About: aboutClientGo + "; a Lease, client-side throttling off", Poll: 0.3, Open: openClientGo,
	}
}

// ClientGoOverTenure is Kubernetes' own election over the register that tenure keeps in Redis.
func ClientGoOverTenure() peers.Peer {
	return peers.Peer{
		Name: "client-go-over-redis", Module: "k8s.io/client-go", Arena: redisArena(), Lease: 15 * time.Second, Most: 500,
		About: aboutClientGo + "; the lock of `adapters/clientgo` over `stores/redis`", Poll: 0.3,
		Open: func(ctx context.Context, address string) (peers.Node, error) {
			store, err := beds.Redis().Open(ctx, address)
			if err != nil {
				return nil, err
			}
			return &clientGoNode{
				lock: func(election, id string) (resourcelock.Interface, error) {
					return tenureclientgo.NewLock(store, election, id)
				},
				closer: store.Close,
			}, nil
		},
	}
}

func openClientGo(_ context.Context, address string) (peers.Node, error) {
	at, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", at.Query().Get("kubeconfig"))
	if err != nil {
		return nil, err
	}
	config.QPS = -1 // else the client, not the server, would be measured with many candidates
	// Clients of equal configurations share a connection unless each has a way of its own to make one.
	config.Dial = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	client, err := coordinationclient.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &clientGoNode{
		lock: func(election, id string) (resourcelock.Interface, error) {
			return &resourcelock.LeaseLock{
				LeaseMeta: metav1.ObjectMeta{Name: election, Namespace: at.Host},
				Client:    client, LockConfig: resourcelock.ResourceLockConfig{Identity: id},
			}, nil
		},
		closer: func() error { return nil },
	}, nil
}

type clientGoNode struct {
	lock   func(election, id string) (resourcelock.Interface, error)
	closer func() error
}

func (n *clientGoNode) Contend(election, id string, lease time.Duration) (peers.Contender, error) {
	lock, err := n.lock(election, id)
	if err != nil {
		return nil, err
	}
	return &clientGoContender{lock: lock, lease: lease}, nil
}

func (n *clientGoNode) Close() error { return n.closer() }

// clientGoContender runs an elector each time: none can be run again.
type clientGoContender struct {
	lock    resourcelock.Interface
	lease   time.Duration
	cancel  context.CancelFunc
	running sync.WaitGroup
}

func (c *clientGoContender) Lead(ctx context.Context) error {
	led := make(chan struct{}, 1)
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: c.lock, LeaseDuration: c.lease, RenewDeadline: c.lease * 10 / 15, RetryPeriod: c.lease * 2 / 15,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { led <- struct{}{} },
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return err
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.cancel = cancel
	c.running.Go(func() { elector.Run(running) })
	if err := await(ctx, led); err != nil {
		cancel()
		return err
	}
	return nil
}

func (c *clientGoContender) Release(context.Context) error {
	c.cancel()
	c.running.Wait()
	return nil
}

func (c *clientGoContender) Close() error {
	if c.cancel == nil {
		return nil
	}
	return c.Release(context.Background())
}
