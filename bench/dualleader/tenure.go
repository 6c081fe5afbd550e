package dualleader

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"

	"github.com/tenure-go/tenure"
)

// Tenure is our own. Its processes lead while IsLeader says so, and until work that needs time to return has done so.
// In even histories its store pushes, in odd ones it is polled.
func Tenure() *Peer {
	return &Peer{
		Name: "tenure", Module: "github.com/tenure-go/tenure", Lease: tenure.DefaultTTL,
		Asked: "`IsLeader`",
		Can:   OwnClock | Freezes,
		Why:   "beyond the promise alone, for the reasons in the table",
		Serve: func(*Clock) Server { return &tenureServer{register: newRegister[tenure.Record]()} },
	}
}

// Sharp returns ours with timings that leave no slack: no drain, and calls so long that a late reply is waited for. At
// the defaults either would hide a lease that is counted from the wrong instant.
func Sharp() *Peer {
	p := Tenure()
	p.Name = "tenure without slack"
	p.Serve = func(*Clock) Server { return &tenureServer{register: newRegister[tenure.Record](), sharp: true} }
	return p
}

// Distrustful returns ours with a candidate that takes a yes for one that lasts: it leads on until its work has
// returned and the record is another's, as if IsLeader read no clock and work had no deadline.
func Distrustful() *Peer {
	p := Tenure()
	p.Name = "tenure without its deadline"
	p.Serve = func(*Clock) Server {
		return &tenureServer{
			register: newRegister[tenure.Record](), leads: func(t *tenureProcess) bool { return t.believes() },
		}
	}
	return p
}

type tenureServer struct {
	*register[tenure.Record]
	leads func(*tenureProcess) bool // in the place of what the library says
	sharp bool
	open  func(*Node) tenure.Store // in the place of a store over the register
}

const election = "election"

func (s *tenureServer) Start(n *Node) Process {
	p := &tenureProcess{server: s, node: n, done: make(chan struct{})}
	c, err := tenure.New(s.store(n), election, append(s.timings(n),
		tenure.WithID(n.Identity), tenure.WithTTL(n.Lease), tenure.WithClock(n.Clock.Read),
		tenure.WithRandom(rand.NewPCG(n.Seed, 1)))...)
	if err != nil {
		panic(err)
	}
	p.candidate = c
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	go func() {
		defer close(p.done)
		_ = c.Run(ctx, func(ctx context.Context, _ tenure.Term) error {
			n.Work(ctx)
			return nil
		})
	}()
	return p
}

func (s *tenureServer) store(n *Node) tenure.Store {
	polled := tenureStore{s.register, n.Link}
	switch {
	case s.open != nil:
		return s.open(n)
	case n.Variant:
		return polled
	}
	return pushingStore{polled}
}

// timings are the options with which work gets the time that it is announced to need; otherwise the defaults.
func (s *tenureServer) timings(n *Node) []tenure.Option {
	switch {
	case n.Drain > 0:
		return []tenure.Option{
			tenure.WithDrain(n.Drain), tenure.WithRenewInterval(n.Lease / 5), tenure.WithCallTimeout(n.Lease / 10),
		}
	case s.sharp:
		return []tenure.Option{
			tenure.WithDrain(n.Lease / 100), tenure.WithRenewInterval(n.Lease / 20), tenure.WithCallTimeout(n.Lease * 9 / 20),
		}
	}
	return nil
}

func (s *tenureServer) Delete()        { s.remove() }
func (s *tenureServer) Backup() func() { return s.backup() }
func (s *tenureServer) Close()         {}

type tenureProcess struct {
	server    *tenureServer
	node      *Node
	candidate *tenure.Candidate
	cancel    context.CancelFunc
	done      chan struct{}

	mu       sync.Mutex
	believed bool
}

func (p *tenureProcess) Leads() bool {
	if p.server.leads != nil {
		return p.server.leads(p)
	}
	return p.Ask() || p.node.Lingers > 0 && p.node.Works()
}

// Ask asks the candidate.
func (p *tenureProcess) Ask() bool { return p.candidate.IsLeader() }

// believes goes by the last that was heard of the record.
func (p *tenureProcess) believes() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.candidate.IsLeader() {
		p.believed = true
	} else if p.candidate.Status().Record.Leader != p.candidate.ID() {
		p.believed = false
	}
	return p.believed
}

func (p *tenureProcess) Stop() {
	p.cancel()
	<-p.done
}

// tenureStore is a store over the register.
type tenureStore struct {
	register *register[tenure.Record]
	link     *Link
}

func (s tenureStore) Load(ctx context.Context, _ string) (tenure.Snapshot, error) {
	var loaded tenure.Snapshot
	err := s.link.Call(ctx, 0, func() bool {
		loaded = tenureSnapshot(s.register.load())
		return false
	})
	if err != nil {
		return tenure.Snapshot{}, fmt.Errorf("loading: %w", err)
	}
	return loaded, nil
}

func (s tenureStore) CompareAndSwap(
	ctx context.Context, _ string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	var swapped tenure.Snapshot
	var won bool
	record = record.Clone()
	err := s.link.Call(ctx, 0, func() bool {
		var version uint64
		if version, won = s.register.swap(registerVersion(old), record); won {
			swapped = tenureSnapshot(record, version)
		}
		return won
	})
	switch {
	case err != nil:
		return tenure.Snapshot{}, fmt.Errorf("swapping: %w", err)
	case !won:
		return tenure.Snapshot{}, tenure.ErrConflict
	}
	return swapped, nil
}

func tenureSnapshot(record tenure.Record, version uint64) tenure.Snapshot {
	if version == 0 {
		return tenure.Snapshot{}
	}
	return tenure.Snapshot{Version: tenure.Version(strconv.FormatUint(version, 10)), Record: record.Clone()}
}

func registerVersion(v tenure.Version) uint64 {
	n, err := strconv.ParseUint(string(v), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// pushingStore pushes changes. A partition silences it, and nobody is told; what a process missed it is not sent later.
type pushingStore struct{ tenureStore }

var errUnreachable = errors.New("the server cannot be reached")

func (s pushingStore) Watch(
	ctx context.Context, _ string, deliver func(tenure.Snapshot, error),
) (stop func(), err error) {
	if err := s.link.Call(ctx, 0, func() bool { return false }); err != nil {
		return nil, errUnreachable
	}
	push := newPush(s.link, func(s tenure.Snapshot) { deliver(s, nil) })
	unwatch := s.register.watch(func(r tenure.Record, version uint64) { push.send(tenureSnapshot(r, version)) })
	return sync.OnceFunc(func() {
		unwatch()
		push.stop()
	}), nil
}
