package tenuregrpc_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"

	"github.com/tenure-go/tenure"
	tenuregrpc "github.com/tenure-go/tenure/adapters/grpc"
	"github.com/tenure-go/tenure/leaderhttp"
	"github.com/tenure-go/tenure/memory"
)

type (
	duplexServer = grpc.BidiStreamingServer[
		grpc_testing.StreamingOutputCallRequest, grpc_testing.StreamingOutputCallResponse]
	duplexClient = grpc.BidiStreamingClient[
		grpc_testing.StreamingOutputCallRequest, grpc_testing.StreamingOutputCallResponse]
)

// open opens a stream that ends with the test.
func (c *client) open(t *testing.T) duplexClient {
	t.Helper()
	s, err := c.FullDuplexCall(t.Context())
	return must(t, s, err)
}

// refused calls a method both ways that the server is expected to refuse, and checks the answers.
func (c *client) refused(ctx context.Context, t *testing.T, code codes.Code, text, key string, want ...string) {
	t.Helper()
	var trailer metadata.MD
	_, err := c.UnaryCall(ctx, &grpc_testing.SimpleRequest{}, grpc.Trailer(&trailer))
	s, failure := c.FullDuplexCall(ctx)
	must(t, s, failure)
	_, streamed := s.Recv()
	for kind, answer := range map[string]struct {
		err     error
		trailer metadata.MD
	}{"unary": {err, trailer}, "stream": {streamed, s.Trailer()}} {
		expectCode(t, answer.err, code)
		if !strings.Contains(answer.err.Error(), text) {
			t.Errorf("%s: the error is %v, want %q", kind, answer.err, text)
		}
		expectTrailer(t, answer.trailer, tenuregrpc.MetadataElection, name)
		expectTrailer(t, answer.trailer, key, want...)
	}
}

func TestGateServesOnTheLeaderAlone(t *testing.T) {
	store := memory.New()
	a := start(t, store, "a").lead(t)
	b := start(t, store, "b")
	atA, atB := connect(t, a.address), connect(t, b.address)
	for range 3 {
		if got, err := atA.call(t); got != "a" || err != nil {
			t.Fatalf("the leader answers %q, %v", got, err)
		}
	}
	b.hear(t)
	atB.refused(t.Context(), t, codes.Unavailable, "does not lead", tenuregrpc.MetadataAddress, a.address)
	if err := a.Resign(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.lead(t)
	for a.Status().Record.Leader != "b" {
		time.Sleep(time.Millisecond)
	}
	atA.refused(t.Context(), t, codes.Unavailable, "does not lead", tenuregrpc.MetadataAddress, b.address)
	if _, err := tenure.SetPause(t.Context(), store, name, tenure.Pause{By: "test"}); err != nil {
		t.Fatal(err)
	}
	for !a.Status().Record.Vacant() {
		time.Sleep(time.Millisecond)
	}
	atA.refused(t.Context(), t, codes.Unavailable, "no leader at present", tenuregrpc.MetadataAddress)
}

// What a client cannot connect to is not told; nor is a leader that fell silent.
func TestGateTellsOnlyLivingLeaders(t *testing.T) {
	store := memory.New()
	a := start(t, store, "a", tenure.WithAddress("http://a"), tenure.WithTTL(ttl)).lead(t)
	b := start(t, store, "b")
	b.hear(t)
	atB := connect(t, b.address)
	atB.refused(t.Context(), t, codes.Unavailable, "does not lead", tenuregrpc.MetadataAddress)
	b.away.cut(errAway) // so that it does not take over
	a.crash()
	for s := b.Status(); s.Unchanged < s.Record.TTL; s = b.Status() {
		time.Sleep(time.Millisecond)
	}
	atB.refused(t.Context(), t, codes.Unavailable, "not heard of in time", tenuregrpc.MetadataAddress)
}

// A handler finds its term, and its context ends with it. That the caller is not told "canceled" matters to it.
func TestGateEndsUnaryCallsWithTheTerm(t *testing.T) {
	a := start(t, memory.New(), "a").lead(t)
	entered, cause := make(chan uint64, 1), make(chan error, 1)
	a.service.unary = func(ctx context.Context) error {
		term, _ := leaderhttp.Term(ctx)
		entered <- term.Token
		<-ctx.Done()
		cause <- context.Cause(ctx)
		return ctx.Err()
	}
	answered := make(chan error, 1)
	c := connect(t, a.address)
	go func() {
		_, err := c.call(t)
		answered <- err
	}()
	if token := <-entered; token != 1 {
		t.Errorf("the handler has the token %d", token)
	}
	if err := a.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-cause; !errors.Is(err, tenure.ErrStopped) {
		t.Errorf("the handler's context ended with %v", err)
	}
	expectCode(t, <-answered, codes.Aborted)
}

// The seat is not given up before the handler has returned.
func TestGateCountsCallsAsWork(t *testing.T) {
	store := memory.New()
	a := start(t, store, "a", tenure.WithDrain(4*time.Second), tenure.WithTTL(20*time.Second)).lead(t)
	entered, leave := make(chan struct{}), make(chan struct{})
	a.service.unary = func(ctx context.Context) error {
		close(entered)
		<-ctx.Done()
		<-leave
		s, err := store.Load(context.Background(), name)
		if err != nil || s.Record.Leader != "a" {
			return fmt.Errorf("the seat was given up: %v, %w", s.Record.Leader, err)
		}
		return nil // what was done in time counts
	}
	answered := make(chan error, 1)
	c := connect(t, a.address)
	go func() {
		_, err := c.call(t)
		answered <- err
	}()
	<-entered
	resigned := make(chan error, 1)
	go func() { resigned <- a.Resign(context.Background()) }()
	for a.Status().State != tenure.StateDraining {
		time.Sleep(time.Millisecond)
	}
	c.refused(t.Context(), t, codes.Unavailable, "the term of this leader is over", tenuregrpc.MetadataAddress)
	close(leave)
	if err := <-answered; err != nil {
		t.Error(err)
	}
	if err := <-resigned; err != nil {
		t.Error(err)
	}
}

// A client that sends nothing, or reads nothing, does not hold a stream's handler up.
func TestGateEndsStalledStreamsWithTheTerm(t *testing.T) {
	for what, handler := range map[string]func(duplexServer) error{
		"receiving": func(s duplexServer) error {
			_, err := s.Recv()
			return err
		},
		"sending": func(s duplexServer) error {
			payload := &grpc_testing.Payload{Body: make([]byte, 1<<20)}
			for {
				if err := s.Send(&grpc_testing.StreamingOutputCallResponse{Payload: payload}); err != nil {
					return err
				}
			}
		},
		"sending late": func(s duplexServer) error {
			<-s.Context().Done()
			err := s.Send(&grpc_testing.StreamingOutputCallResponse{})
			time.Sleep(50 * time.Millisecond) // that nothing is sent takes time to see
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			a := start(t, memory.New(), "a").lead(t)
			entered, left := make(chan struct{}), make(chan error, 1)
			a.service.stream = func(s duplexServer) error {
				close(entered)
				err := handler(s)
				left <- err
				return err
			}
			s := connect(t, a.address).open(t)
			<-entered
			if err := a.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := <-left; !errors.Is(err, tenure.ErrStopped) {
				t.Errorf("the handler was told %v", err)
			}
			if what == "sending" {
				return // what it sent stands before the answer
			}
			_, err := s.Recv()
			expectCode(t, err, codes.Aborted)
		})
	}
}

// Of a call that its client ends, the handler and the gate say so.
func TestGateLeavesCancelledCallsAlone(t *testing.T) {
	a := start(t, memory.New(), "a").lead(t)
	entered, left := make(chan struct{}), make(chan error, 1)
	a.service.stream = func(s duplexServer) error {
		close(entered)
		_, err := s.Recv()
		left <- err
		return err
	}
	ctx, cancel := context.WithCancel(t.Context())
	s, err := connect(t, a.address).FullDuplexCall(ctx)
	must(t, s, err)
	<-entered
	cancel()
	expectCode(t, <-left, codes.Canceled)
	if a.Status().State != tenure.StateLeader {
		t.Error("the term ended with the call")
	}
}

func TestStreamsPassThroughGates(t *testing.T) {
	a := start(t, memory.New(), "a").lead(t)
	a.service.stream = func(s duplexServer) error {
		if term, ok := leaderhttp.Term(s.Context()); !ok || term.Token != 1 {
			return errors.New("the stream has no term")
		}
		for {
			in, err := s.Recv()
			if err != nil {
				return err
			}
			if err := s.Send(&grpc_testing.StreamingOutputCallResponse{Payload: in.GetPayload()}); err != nil {
				return err
			}
		}
	}
	s := connect(t, a.address).open(t)
	for i := range 100 {
		body := fmt.Sprint(i)
		err := s.Send(&grpc_testing.StreamingOutputCallRequest{Payload: &grpc_testing.Payload{Body: []byte(body)}})
		if err != nil {
			t.Fatal(err)
		}
		out, err := s.Recv()
		if got := string(must(t, out, err).GetPayload().GetBody()); got != body {
			t.Fatalf("%q came back as %q", body, got)
		}
	}
}

func TestGateOfSomeMethods(t *testing.T) {
	c, err := tenure.New(memory.New(), name)
	must(t, c, err)
	const whole = "/grpc.testing.TestService/"
	for what, test := range map[string]struct {
		option             tenuregrpc.GateOption
		unary, empty, both bool // whether they are refused
	}{
		"one":       {tenuregrpc.WithMethods(unaryCall), true, false, false},
		"two":       {tenuregrpc.WithMethods(unaryCall, duplex), true, false, true},
		"a service": {tenuregrpc.WithMethods(whole), true, true, true},
		"another":   {tenuregrpc.WithMethods("/grpc.testing.Test/", "/grpc.testing.TestService/Unary"), false, false, false},
		"a func":    {tenuregrpc.WithMethodFunc(func(m string) bool { return m == duplex }), false, false, true},
		"all":       {nil, true, true, true},
	} {
		g, err := tenuregrpc.NewGate(c, test.option)
		must(t, g, err)
		l := listen(t, "127.0.0.1:0")
		s := &service{name: "a", stream: func(duplexServer) error { return nil }}
		serve(t, l, s, grpc.UnaryInterceptor(g.Unary), grpc.StreamInterceptor(g.Stream))
		at := connect(t, l.Addr().String())
		_, unary := at.call(t)
		_, empty := at.EmptyCall(t.Context(), &grpc_testing.Empty{})
		_, both := at.open(t).Recv()
		for method, got := range map[string]struct {
			err     error
			refused bool
		}{"unary": {unary, test.unary}, "empty": {empty, test.empty}, "stream": {both, test.both}} {
			if refused := strings.Contains(fmt.Sprint(got.err), "no leader"); refused != got.refused {
				t.Errorf("%s: %s was answered with %v", what, method, got.err)
			}
		}
	}
}

func TestGateRefusesConfiguration(t *testing.T) {
	c, err := tenure.New(memory.New(), name)
	must(t, c, err)
	for what, option := range map[string]tenuregrpc.GateOption{
		"no methods":    tenuregrpc.WithMethods(),
		"no slash":      tenuregrpc.WithMethods("grpc.testing.TestService/UnaryCall"),
		"no service":    tenuregrpc.WithMethods("//UnaryCall"),
		"no method":     tenuregrpc.WithMethods("/grpc.testing.TestService"),
		"three slashes": tenuregrpc.WithMethods("/grpc.testing/TestService/UnaryCall"),
		"an empty name": tenuregrpc.WithMethods(""),
		"no function":   tenuregrpc.WithMethodFunc(nil),
		"no address":    tenuregrpc.WithLeaderAddress(nil),
	} {
		if _, err := tenuregrpc.NewGate(c, option); !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := tenuregrpc.NewGate(nil); !errors.Is(err, tenure.ErrConfig) {
		t.Error(err)
	}
}

func TestCheckFindsMisspeltMethods(t *testing.T) {
	c, err := tenure.New(memory.New(), name)
	must(t, c, err)
	server := grpc.NewServer()
	grpc_testing.RegisterTestServiceServer(server, &service{})
	for method, want := range map[string]string{
		unaryCall: "", duplex: "", "/grpc.testing.TestService/": "",
		"/grpc.testing.TestService/Unary": "no method", "/grpc.testing.Test/": "no service", "/x/UnaryCall": "no service",
	} {
		gate, err := tenuregrpc.NewGate(c, tenuregrpc.WithMethods(method))
		must(t, gate, err)
		guard, err := tenuregrpc.NewGuard(&leaderhttp.MemoryMark{}, name, tenuregrpc.WithMethods(method))
		must(t, guard, err)
		for _, err := range []error{gate.Check(server.GetServiceInfo()), guard.Check(server.GetServiceInfo())} {
			if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", method, err)
			}
		}
	}
}
