package dualleader

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"
)

// Redsync is a mutex with its defaults that is extended every third of its expiry. Its processes lead while Until is in
// the future, and until work has returned, whose context ends then.
func Redsync() *Peer {
	return &Peer{
		Name: "redsync", Module: "github.com/go-redsync/redsync/v4", Lease: 8 * time.Second,
		Asked: "whether `Until` is in the future; the loop that extends it is ours",
		Can:   ServerClock | ServerWall | Freezes, Holds: true,
		Why:   "a key that the server drops, by its own clock or by hand, is noticed with the next extension",
		Serve: func(c *Clock) Server { return &redsyncServer{newRedisServer(c)} },
	}
}

type redsyncServer struct{ *redisServer }

func (s *redsyncServer) Start(n *Node) Process {
	pool := redsyncPool{redisClient{s.redisServer, n.Link}}
	p := &redsyncProcess{node: n, mutex: redsync.New(pool).NewMutex(n.Election)}
	p.stood = again(n, p.stand)
	return p
}

// redsyncProcess holds a mutex, whose fields belong to the goroutine that extends it.
type redsyncProcess struct {
	node  *Node
	mutex *redsync.Mutex
	stood Process // its loop, which does not know of the deadline

	mu    sync.Mutex
	until time.Time
}

func (p *redsyncProcess) Leads() bool {
	return p.Ask() || p.node.Lingers > 0 && p.node.Works()
}

// Stop unlocks the mutex after work has returned.
func (p *redsyncProcess) Stop() { p.stood.Stop() }

// Ask is what the documentation recommends in the place of Valid.
func (p *redsyncProcess) Ask() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Now().Before(p.until)
}

func (p *redsyncProcess) stand(ctx context.Context) {
	if p.mutex.LockContext(ctx) != nil {
		return
	}
	work, cancel := context.WithCancel(ctx)
	defer cancel()
	finished := make(chan struct{})
	p.held()
	go func() {
		defer close(finished)
		p.node.Work(work)
	}()
	p.extend(finished, cancel)
	if ctx.Err() == nil {
		return // lost
	}
	<-finished
	_, _ = p.mutex.UnlockContext(context.Background())
	p.released()
}

// extend extends the mutex until its work has returned or its validity has ended.
func (p *redsyncProcess) extend(finished <-chan struct{}, cancel func()) {
	every := p.node.Lease / 3
	deadline := time.AfterFunc(time.Until(p.mutex.Until()), cancel)
	defer deadline.Stop()
	for {
		select {
		case <-finished:
			return
		case <-time.After(every):
		}
		ok, err := p.mutex.ExtendContext(context.Background())
		if ok && err == nil {
			p.held()
			deadline.Reset(time.Until(p.mutex.Until()))
			every = p.node.Lease / 3
			continue
		}
		if taken := (*redsync.ErrTaken)(nil); errors.As(err, &taken) || !time.Now().Before(p.mutex.Until()) {
			p.released()
			cancel()
			return
		}
		every = p.node.Lease / 30
	}
}

func (p *redsyncProcess) held() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.until = p.mutex.Until()
}

func (p *redsyncProcess) released() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.until = time.Time{}
}

// redsyncPool is its interface to a client library.
type redsyncPool struct{ client redisClient }

func (p redsyncPool) Get(ctx context.Context) (redis.Conn, error) {
	return redsyncConn{p.client, ctx}, nil
}

type redsyncConn struct {
	client redisClient
	ctx    context.Context
}

func (c redsyncConn) Get(name string) (string, error) {
	value, err := c.client.do(c.ctx, func() (any, bool, error) {
		text, _ := c.client.server.read(name)
		return text, false, nil
	})
	if err != nil {
		return "", err
	}
	return value.(string), nil
}

func (c redsyncConn) Set(string, string) (bool, error) { panic("a mutex does not use Set") }

func (c redsyncConn) SetNX(name, value string, expiry time.Duration) (bool, error) {
	set, err := c.client.do(c.ctx, func() (any, bool, error) {
		set := c.client.server.setNX(name, value, expiry)
		return set, set, nil
	})
	if err != nil {
		return false, err
	}
	return set.(bool), nil
}

func (c redsyncConn) Eval(script *redis.Script, keysAndArgs ...any) (any, error) {
	var keys []string
	for _, key := range keysAndArgs[:script.KeyCount] {
		keys = append(keys, key.(string))
	}
	return c.client.do(c.ctx, func() (any, bool, error) {
		return c.client.server.eval(script.Src, keys, keysAndArgs[script.KeyCount:])
	})
}

func (c redsyncConn) ScriptLoad(*redis.Script) error { return nil }

func (c redsyncConn) PTTL(string) (time.Duration, error) { panic("a mutex does not use PTTL") }

func (c redsyncConn) Close() error { return nil }
