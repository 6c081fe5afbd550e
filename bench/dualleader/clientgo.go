package dualleader

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

// ClientGo is the leader election of Kubernetes, with the timings that its comments call the default of core clients.
// Its processes lead from OnStartedLeading until its context has ended and work has returned.
func ClientGo() *Peer {
	return clientGo("client-go", false, "its deadline counts from when a reply arrives and a retry later; two processes "+
		"of one identity take each other's record for their own; a record that is gone is made anew by whoever comes first")
}

// ClientGoReleasing is the same with ReleaseOnCancel, without which a clean stop costs the others a whole lease.
func ClientGoReleasing() *Peer {
	return clientGo("client-go, ReleaseOnCancel", true, "the same, and the context of the work ends only after the "+
		"release, which a server that does not answer holds up for the whole renew deadline; a clean stop releases while "+
		"work goes on")
}

func clientGo(name string, release bool, why string) *Peer {
	return &Peer{
		Name: name, Module: "k8s.io/client-go", Lease: 15 * time.Second,
		Asked: "the context of `OnStartedLeading`; `IsLeader` would say yes for longer",
		Can:   Freezes, Why: why,
		Serve: func(*Clock) Server { return &clientGoServer{newRegister[[]byte](), release} },
	}
}

type clientGoServer struct {
	*register[[]byte]
	release bool
}

func (s *clientGoServer) Delete()        { s.remove() }
func (s *clientGoServer) Backup() func() { return s.backup() }
func (s *clientGoServer) Close()         {}

func (s *clientGoServer) Start(n *Node) Process {
	config := leaderelection.LeaderElectionConfig{
		Lock:          &clientGoLock{register: s.register, link: n.Link, identity: n.Identity},
		LeaseDuration: n.Lease, RenewDeadline: n.Lease * 10 / 15, RetryPeriod: n.Lease * 2 / 15,
		ReleaseOnCancel: s.release,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: n.Work,
			OnStoppedLeading: func() {},
		},
	}
	p := new(clientGoProcess)
	p.Process = again(n, func(ctx context.Context) {
		e, err := leaderelection.NewLeaderElector(config)
		if err != nil {
			panic(err)
		}
		p.elector.Store(e)
		e.Run(klog.NewContext(ctx, logr.Discard()))
	})
	return p
}

type clientGoProcess struct {
	Process
	elector atomic.Pointer[leaderelection.LeaderElector]
}

// Ask compares names.
func (p *clientGoProcess) Ask() bool {
	e := p.elector.Load()
	return e != nil && e.IsLeader()
}

// again returns a process that leads while its work goes on, and stands again whenever stand has returned.
func again(n *Node, stand func(context.Context)) Process {
	ctx, cancel := context.WithCancel(context.Background())
	p := &working{node: n, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		for ctx.Err() == nil {
			stand(ctx)
		}
	}()
	return p
}

// working is a process that leads while its work goes on.
type working struct {
	node   *Node
	cancel context.CancelFunc
	done   chan struct{}
}

func (p *working) Leads() bool { return p.node.Works() }

func (p *working) Stop() {
	p.cancel()
	<-p.done
}

// clientGoLock keeps the record in the register, as a Lease object does.
type clientGoLock struct {
	register *register[[]byte]
	link     *Link
	identity string

	mu      sync.Mutex
	version uint64 // of the object that was last seen
}

var leases = schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}

func (l *clientGoLock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	var text []byte
	var version uint64
	err := l.link.Call(ctx, 0, func() bool {
		text, version = l.register.load()
		return false
	})
	if err != nil {
		return nil, nil, err
	}
	if version == 0 {
		return nil, nil, apierrors.NewNotFound(leases, election)
	}
	record := new(resourcelock.LeaderElectionRecord)
	if err := json.Unmarshal(text, record); err != nil {
		return nil, nil, err
	}
	l.saw(version)
	return record, text, nil
}

func (l *clientGoLock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.put(ctx, 0, record)
}

func (l *clientGoLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	l.mu.Lock()
	version := l.version
	l.mu.Unlock()
	if version == 0 {
		return errors.New("lease not initialized, call get or create first")
	}
	return l.put(ctx, version, record)
}

func (l *clientGoLock) put(ctx context.Context, old uint64, record resourcelock.LeaderElectionRecord) error {
	text, err := json.Marshal(record)
	if err != nil {
		return err
	}
	var version uint64
	var ok bool
	err = l.link.Call(ctx, 0, func() bool {
		version, ok = l.register.swap(old, text)
		return ok
	})
	if err != nil {
		return err
	}
	if !ok {
		return apierrors.NewConflict(leases, election, errors.New("the object has been modified"))
	}
	l.saw(version)
	return nil
}

func (l *clientGoLock) saw(version uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.version = version
}

func (l *clientGoLock) RecordEvent(string) {}
func (l *clientGoLock) Identity() string   { return l.identity }
func (l *clientGoLock) Describe() string   { return election }
