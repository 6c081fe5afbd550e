package contenders

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	goredispool "github.com/go-redsync/redsync/v4/redis/goredis/v9"
	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"github.com/tenure-go/tenure/bench/peers"
)

// Rueidislock is the lock of rueidis at its defaults for one server.
func Rueidislock() peers.Peer {
	return peers.Peer{
		Name: "rueidislock", Module: "github.com/redis/rueidis", Arena: redisArena(), Lease: 5 * time.Second, Most: 10,
		About:  "`WithContext`, released by its cancel function; defaults, `KeyMajority` 1 for one server",
		Storms: true, Open: openRueidislock(false),
	}
}

// RueidislockNoLoop is the same with the option that its documentation recommends for servers that know it.
func RueidislockNoLoop() peers.Peer {
	p := Rueidislock()
	p.Name, p.About = "rueidislock-noloop", "the same with `NoLoopTracking`"
	p.Storms, p.Most, p.Open = false, 500, openRueidislock(true)
	return p
}

func redisAddress(url string) string {
	return strings.TrimSuffix(strings.TrimPrefix(url, "redis://"), "/0")
}

func openRueidislock(noLoop bool) func(context.Context, string) (peers.Node, error) {
	return func(_ context.Context, address string) (peers.Node, error) {
		return &rueidisNode{address: redisAddress(address), noLoop: noLoop}, nil
	}
}

// rueidisNode makes a locker for each candidate: the validity of a lock is a setting of the locker.
type rueidisNode struct {
	address string
	noLoop  bool
}

func (n *rueidisNode) Contend(election, _ string, lease time.Duration) (peers.Contender, error) {
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: rueidis.ClientOption{InitAddress: []string{n.address}},
		KeyMajority:  1, KeyValidity: lease, NoLoopTracking: n.noLoop,
	})
	if err != nil {
		return nil, err
	}
	return &rueidisContender{locker: locker, name: election}, nil
}

func (n *rueidisNode) Close() error { return nil }

type rueidisContender struct {
	locker rueidislock.Locker
	name   string
	lock   context.Context // its end is the lock's
	cancel context.CancelFunc
}

func (c *rueidisContender) Lead(ctx context.Context) error {
	base, stop := detached(ctx)
	lock, cancel, err := c.locker.WithContext(base, c.name)
	if err != nil {
		stop()
		return err
	}
	if !stop() {
		cancel()
		return ctx.Err()
	}
	c.lock, c.cancel = lock, cancel
	return nil
}

func (c *rueidisContender) Release(context.Context) error {
	lost := c.lock.Err() != nil
	c.cancel()
	c.cancel = nil
	if lost {
		return errLost
	}
	return nil
}

func (c *rueidisContender) Close() error {
	if c.cancel != nil {
		c.cancel()
	}
	c.locker.Close()
	return nil
}

// detached returns a context that ends with ctx until stop is called, which reports whether it did so in time. What a
// library begins with it may outlive ctx.
func detached(ctx context.Context) (_ context.Context, stop func() bool) {
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	return base, context.AfterFunc(ctx, cancel)
}

// Redislock is bsm's lock in a loop: it has neither a default lease nor a loop of its own.
func Redislock() peers.Peer {
	return peers.Peer{
		Name: "redislock", Module: "github.com/bsm/redislock", Arena: redisArena(), Lease: 10 * time.Second, Most: 500,
		About: "`Obtain` with `LinearBackoff` of a fifth of the lease, `Refresh` every third, `Release`; it has no " +
			"default lease",
		Poll: 0.2, Open: openGoRedis(newRedislock),
	}
}

// Redsync is redsync's mutex in a loop.
func Redsync() peers.Peer {
	return peers.Peer{
		Name: "redsync", Module: "github.com/go-redsync/redsync/v4", Arena: redisArena(), Lease: 8 * time.Second, Most: 500,
		About: "`LockContext` again and again, at its default of a try every 50 to 250 ms, `Extend` every third of the " +
			"lease, `Unlock`",
		Poll: 0.03, Open: openGoRedis(newRedsync),
	}
}

func openGoRedis(lock func(*goredis.Client, string, time.Duration) redisLock) func(
	context.Context, string) (peers.Node, error) {
	return func(_ context.Context, address string) (peers.Node, error) {
		return &goRedisNode{goredis.NewClient(&goredis.Options{Addr: redisAddress(address)}), lock}, nil
	}
}

type goRedisNode struct {
	client *goredis.Client
	lock   func(*goredis.Client, string, time.Duration) redisLock
}

func (n *goRedisNode) Contend(election, _ string, lease time.Duration) (peers.Contender, error) {
	return &lockContender{lock: n.lock(n.client, election, lease), lease: lease}, nil
}

func (n *goRedisNode) Close() error { return n.client.Close() }

// redisLock is a lock that whoever holds it has to extend.
type redisLock interface {
	// Obtain tries until it has the lock.
	Obtain(ctx context.Context) error
	Extend(ctx context.Context) error
	Release(ctx context.Context) error
}

// lockContender leads while it holds a lock, which it extends every third of the lease.
type lockContender struct {
	lock   redisLock
	lease  time.Duration
	cancel context.CancelFunc
	lost   chan error
}

func (c *lockContender) Lead(ctx context.Context) error {
	if err := c.lock.Obtain(ctx); err != nil {
		return err
	}
	extending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.cancel, c.lost = cancel, make(chan error, 1)
	go func() { c.lost <- c.extend(extending) }()
	return nil
}

// extend returns nil when it has been told to end, and an error when the lock is lost.
func (c *lockContender) extend(ctx context.Context) error {
	every := time.NewTicker(c.lease / 3)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-every.C:
			if err := c.lock.Extend(ctx); err != nil && ctx.Err() == nil {
				return errors.Join(errLost, err)
			}
		}
	}
}

func (c *lockContender) Release(ctx context.Context) error {
	c.cancel()
	c.cancel = nil
	if err := <-c.lost; err != nil {
		return err
	}
	return c.lock.Release(ctx)
}

func (c *lockContender) Close() error {
	if c.cancel == nil {
		return nil
	}
	return c.Release(context.Background())
}

type bsmLock struct {
	client *redislock.Client
	key    string
	lease  time.Duration
	lock   *redislock.Lock
}

func newRedislock(client *goredis.Client, key string, lease time.Duration) redisLock {
	return &bsmLock{client: redislock.New(client), key: key, lease: lease}
}

func (l *bsmLock) Obtain(ctx context.Context) (err error) {
	options := &redislock.Options{RetryStrategy: redislock.LinearBackoff(l.lease / 5)}
	for {
		// It gives up after a lease, and when the context ends.
		l.lock, err = l.client.Obtain(ctx, l.key, l.lease, options)
		if ctx.Err() != nil {
			return errors.Join(ctx.Err(), l.giveBack(err))
		}
		if err == nil || !errors.Is(err, redislock.ErrNotObtained) && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
	}
}

// giveBack releases a lock that came when nobody waited for it any more.
func (l *bsmLock) giveBack(err error) error {
	if err != nil {
		return nil //nolint:nilerr // there is nothing to give back
	}
	return l.lock.Release(context.Background())
}

func (l *bsmLock) Extend(ctx context.Context) error { return l.lock.Refresh(ctx, l.lease, nil) }

func (l *bsmLock) Release(ctx context.Context) error { return l.lock.Release(ctx) }

type redsyncLock struct{ mutex *redsync.Mutex }

func newRedsync(client *goredis.Client, key string, lease time.Duration) redisLock {
	return &redsyncLock{redsync.New(goredispool.NewPool(client)).NewMutex(key, redsync.WithExpiry(lease))}
}

func (l *redsyncLock) Obtain(ctx context.Context) error {
	for {
		err := l.mutex.LockContext(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var taken *redsync.ErrTaken
		if !errors.As(err, &taken) && !errors.Is(err, redsync.ErrFailed) {
			return err
		}
	}
}

func (l *redsyncLock) Extend(ctx context.Context) error { return held(l.mutex.ExtendContext(ctx)) }

func (l *redsyncLock) Release(ctx context.Context) error { return held(l.mutex.UnlockContext(ctx)) }

func held(ok bool, err error) error {
	if err != nil {
		return fmt.Errorf("redsync: %w", err)
	}
	if !ok {
		return errLost
	}
	return nil
}
