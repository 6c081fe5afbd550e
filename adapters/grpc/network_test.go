package tenuregrpc_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/tenure-go/tenure"
	tenuregrpc "github.com/tenure-go/tenure/adapters/grpc"
)

// Most tests run real servers and clients on the loopback, and therefore in real time.

const (
	name = "billing"
	// patience is how long a test waits for what has to happen, on a machine however busy.
	patience = time.Minute
)

func must[T any](t *testing.T, value T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// service answers with its name, or as a test has it.
type service struct {
	grpc_testing.UnimplementedTestServiceServer
	name   string
	unary  func(context.Context) error
	stream func(duplexServer) error
}

func (s *service) UnaryCall(ctx context.Context, _ *grpc_testing.SimpleRequest) (*grpc_testing.SimpleResponse, error) {
	if s.unary != nil {
		if err := s.unary(ctx); err != nil {
			return nil, err
		}
	}
	return &grpc_testing.SimpleResponse{ServerId: s.name}, nil
}

func (s *service) EmptyCall(context.Context, *grpc_testing.Empty) (*grpc_testing.Empty, error) {
	return &grpc_testing.Empty{}, nil
}

func (s *service) FullDuplexCall(stream duplexServer) error { return s.stream(stream) }

const (
	unaryCall = grpc_testing.TestService_UnaryCall_FullMethodName
	duplex    = grpc_testing.TestService_FullDuplexCall_FullMethodName
)

func listen(t *testing.T, address string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", address)
	return must(t, l, err)
}

// serve runs a server until the test ends.
func serve(t *testing.T, l net.Listener, s *service, options ...grpc.ServerOption) *grpc.Server {
	t.Helper()
	server := grpc.NewServer(options...)
	grpc_testing.RegisterTestServiceServer(server, s)
	done := make(chan struct{})
	go func() {
		defer close(done)
		server.Serve(l)
	}()
	t.Cleanup(func() {
		server.Stop()
		<-done
	})
	return server
}

func connect(t *testing.T, target string, options ...grpc.DialOption) *client {
	t.Helper()
	options = append(options, grpc.WithTransportCredentials(insecure.NewCredentials()))
	conn, err := grpc.NewClient(target, options...)
	must(t, conn, err)
	t.Cleanup(func() { conn.Close() })
	return &client{conn, grpc_testing.NewTestServiceClient(conn)}
}

// follow connects to the leader in store.
func follow(t *testing.T, store tenure.Store, options ...grpc.DialOption) *client {
	t.Helper()
	r, err := tenuregrpc.NewResolver(store)
	return connect(t, tenuregrpc.Target(name), append(options, grpc.WithResolvers(must(t, r, err)))...)
}

type client struct {
	conn *grpc.ClientConn
	grpc_testing.TestServiceClient
}

// call returns who answered.
func (c *client) call(t *testing.T, options ...grpc.CallOption) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	resp, err := c.UnaryCall(ctx, &grpc_testing.SimpleRequest{}, options...)
	return resp.GetServerId(), err
}

// wait calls until the wanted server answers. Only refusals may come before, and answers of those who led before.
func (c *client) wait(t *testing.T, want string, before ...string) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) { // nothing tells us more
		got, err := c.call(t, grpc.WaitForReady(true))
		if got == want {
			return
		}
		expectCode(t, err, codes.OK, codes.Unavailable, codes.Aborted)
		if err == nil && (len(before) == 0 || got != before[0]) {
			t.Fatalf("%q answered, not %q", got, want)
		}
	}
	t.Fatalf("%q has not answered", want)
}

func expectCode(t *testing.T, err error, want ...codes.Code) {
	t.Helper()
	for _, code := range want {
		if status.Code(err) == code {
			return
		}
	}
	t.Fatalf("the error is %v, want %v", err, want)
}

func expectTrailer(t *testing.T, trailer metadata.MD, key string, want ...string) {
	t.Helper()
	got := trailer.Get(key)
	if len(got) != len(want) || len(want) == 1 && got[0] != want[0] {
		t.Errorf("the trailer's %s is %q, want %q", key, got, want)
	}
}

// away is a store that can be cut off.
type away struct {
	tenure.Store
	mu   sync.Mutex
	down error
}

func (a *away) cut(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.down = err
}

func (a *away) state() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.down
}

var errAway = errors.New("the store is away")

func (a *away) Load(ctx context.Context, election string) (tenure.Snapshot, error) {
	if err := a.state(); err != nil {
		return tenure.Snapshot{}, err
	}
	return a.Store.Load(ctx, election)
}

func (a *away) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, r tenure.Record,
) (tenure.Snapshot, error) {
	if err := a.state(); err != nil {
		return tenure.Snapshot{}, err
	}
	return a.Store.CompareAndSwap(ctx, election, old, r)
}

// node is a process with a candidate, and a server behind a gate.
type node struct {
	*tenure.Candidate
	service *service
	server  *grpc.Server
	gate    *tenuregrpc.Gate
	address string
	away    *away
}

// ttl is that of leaders who have to lose their lease. All others have one that no pause of a busy machine outlasts.
const ttl = 4 * time.Second

// start runs a node until the test ends, in the election of other nodes on the same store.
func start(t *testing.T, store tenure.Store, id string, options ...tenure.Option) *node {
	t.Helper()
	return startOn(t, store, id, listen(t, "127.0.0.1:0"), options...)
}

func startOn(t *testing.T, store tenure.Store, id string, l net.Listener, options ...tenure.Option) *node {
	t.Helper()
	n := &node{address: l.Addr().String(), away: &away{Store: store}, service: &service{name: id}}
	options = append([]tenure.Option{
		tenure.WithID(id), tenure.WithAddress(n.address), tenure.WithTTL(time.Minute),
		tenure.WithPollInterval(time.Second), tenure.WithRenewInterval(time.Second), // the store pushes nothing
	}, options...)
	c, err := tenure.New(n.away, name, options...)
	n.Candidate = must(t, c, err)
	g, err := tenuregrpc.NewGate(c)
	n.gate = must(t, g, err)
	n.server = serve(t, l, n.service, grpc.UnaryInterceptor(n.gate.Unary), grpc.StreamInterceptor(n.gate.Stream))
	if err := c.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Stop(context.Background()) })
	return n
}

// lead waits until the node leads.
func (n *node) lead(t *testing.T) *node {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) { // nothing tells us more
		if n.Status().State == tenure.StateLeader {
			return n
		}
	}
	t.Fatalf("%s does not lead", n.ID())
	return nil
}

// hear waits until the node has heard of its leader.
func (n *node) hear(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(patience); n.Status().Record.Vacant(); time.Sleep(time.Millisecond) { // nothing tells
		if time.Now().After(end) {
			t.Fatalf("%s has not heard of a leader", n.ID())
		}
	}
}

// crash ends the process without giving the seat back: nothing of it reaches the store or a client any more.
func (n *node) crash() {
	n.away.cut(errAway)
	n.server.Stop()
}
