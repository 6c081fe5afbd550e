package dualleader

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ali-assar/NATS-Leader-Election/leader"
)

// NATSLeaderElection is an election in a NATS key-value bucket whose values expire, with the TTL and the interval of
// its examples. Its processes lead while IsLeader says so, and until work has returned, whose context ends when
// IsLeader is seen to say no.
func NATSLeaderElection() *Peer {
	return &Peer{
		Name: "NATS-Leader-Election", Module: "github.com/ali-assar/NATS-Leader-Election", Lease: 10 * time.Second,
		Asked: "`IsLeader`",
		Can:   ServerClock | ServerWall,
		Why: "a value that the server drops is noticed with the next heartbeat; after a release several bids of one " +
			"process run side by side, and those that lose demote it although one has won, without telling its work",
		Serve: func(c *Clock) Server {
			return &natsServer{clock: c, register: newRegister[natsValue](), ttl: 10 * time.Second}
		},
	}
}

// natsServer is a bucket with one key.
type natsServer struct {
	*register[natsValue]
	clock *Clock
	ttl   time.Duration
}

type natsValue struct {
	data []byte
	at   time.Duration // on the server's wall clock
}

func (s *natsServer) now() time.Duration {
	_, wall := s.clock.Read()
	return wall
}

// expire drops a value that is too old. Nobody is told of that: the bucket leaves no marker.
func (s *natsServer) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.exists && s.now()-s.value.at >= s.ttl {
		s.exists = false
	}
}

func (s *natsServer) Delete()        { s.remove() }
func (s *natsServer) Backup() func() { return s.backup() }
func (s *natsServer) Close()         {}

func (s *natsServer) Start(n *Node) Process {
	e, err := leader.NewElection(natsClient{s, n.Link}, leader.ElectionConfig{
		Bucket: "leaders", Group: election, InstanceID: n.Identity, TTL: n.Lease, HeartbeatInterval: n.Lease / 10,
		Logger: nil,
	})
	if err != nil {
		panic(err)
	}
	p := &natsProcess{election: e, node: n}
	p.promote()
	if err := e.Start(context.Background()); err != nil {
		panic(err)
	}
	return p
}

type natsProcess struct {
	election leader.Election
	node     *Node

	mu     sync.Mutex
	cancel context.CancelFunc // ends the work
	done   chan struct{}
}

// promote has work begin and end with leadership, as the examples do: by the two callbacks.
func (p *natsProcess) promote() {
	p.election.OnPromote(func(ctx context.Context, _ string) {
		p.mu.Lock()
		ctx, p.cancel = context.WithCancel(ctx)
		done := make(chan struct{})
		p.done = done
		p.mu.Unlock()
		p.node.Work(ctx)
		close(done)
	})
	p.election.OnDemote(p.demote)
}

// demote ends the work and waits for it.
func (p *natsProcess) demote() {
	p.mu.Lock()
	cancel, done := p.cancel, p.done
	p.mu.Unlock()
	if cancel != nil {
		cancel()
		<-done
	}
}

// Ask is the flag that the heartbeats keep.
func (p *natsProcess) Ask() bool { return p.election.IsLeader() }

func (p *natsProcess) Leads() bool {
	return p.Ask() || p.node.Lingers > 0 && p.node.Works()
}

// Stop deletes the key of a leader. A process that stands must not be stopped so: the library would use the context
// that StopWithContext takes away from a bid that is under way.
func (p *natsProcess) Stop() {
	if !p.election.IsLeader() {
		_ = p.election.Stop()
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), p.node.Lease)
	defer cancel()
	_ = p.election.StopWithContext(ctx, leader.StopOptions{DeleteKey: true, WaitForDemote: true, Timeout: p.node.Lease})
}

// natsTimeout is how long the client library waits for a reply.
const natsTimeout = 5 * time.Second

var (
	errKeyExists   = errors.New("nats: key exists")
	errKeyNotFound = errors.New("nats: key not found")
	errWrongLast   = errors.New("nats: wrong last sequence")
)

// natsClient is the library's interface to a client library.
type natsClient struct {
	server *natsServer
	link   *Link
}

func (c natsClient) JetStream() (leader.JetStreamContext, error) { return c, nil }
func (c natsClient) KeyValue(string) (leader.KeyValue, error)    { return c, nil }
func (c natsClient) Create(_ string, data []byte, _ ...any) (uint64, error) {
	return c.put(0, data, errKeyExists)
}

func (c natsClient) Update(_ string, data []byte, last uint64, _ ...any) (uint64, error) {
	return c.put(last, data, errWrongLast)
}

func (c natsClient) put(last uint64, data []byte, refusal error) (uint64, error) {
	var version uint64
	var ok bool
	err := c.link.Call(context.Background(), natsTimeout, func() bool {
		c.server.expire()
		version, ok = c.server.swap(last, natsValue{data, c.server.now()})
		return ok
	})
	switch {
	case err != nil:
		return 0, err
	case !ok:
		return 0, refusal
	}
	return version, nil
}

func (c natsClient) Get(key string) (leader.Entry, error) {
	var entry natsEntry
	err := c.link.Call(context.Background(), natsTimeout, func() bool {
		c.server.expire()
		value, version := c.server.load()
		entry = natsEntry{key, value.data, version}
		return false
	})
	switch {
	case err != nil:
		return nil, err
	case entry.version == 0:
		return nil, errKeyNotFound
	}
	return entry, nil
}

func (c natsClient) Delete(string) error {
	return c.link.Call(context.Background(), natsTimeout, func() bool {
		c.server.remove()
		return true
	})
}

func (c natsClient) Watch(key string, _ ...any) (leader.Watcher, error) {
	w := &natsWatcher{updates: make(chan leader.Entry, 64), stopped: make(chan struct{})}
	w.push = newPush(c.link, w.update)
	w.unwatch = c.server.watch(func(value natsValue, version uint64) { w.push.send(natsEntry{key, value.data, version}) })
	return w, nil
}

type natsWatcher struct {
	updates chan leader.Entry
	push    *push[natsEntry]
	unwatch func()
	stopped chan struct{}
	once    sync.Once
}

// update passes an entry on, nil for a key that is not there.
func (w *natsWatcher) update(e natsEntry) {
	var entry leader.Entry
	if e.version != 0 {
		entry = e
	}
	select {
	case w.updates <- entry:
	case <-w.stopped:
	}
}

func (w *natsWatcher) Updates() <-chan leader.Entry { return w.updates }

func (w *natsWatcher) Stop() {
	w.once.Do(func() {
		close(w.stopped)
		w.unwatch()
		go w.push.stop()
	})
}

type natsEntry struct {
	key     string
	data    []byte
	version uint64
}

func (e natsEntry) Key() string      { return e.key }
func (e natsEntry) Value() []byte    { return e.data }
func (e natsEntry) Revision() uint64 { return e.version }
