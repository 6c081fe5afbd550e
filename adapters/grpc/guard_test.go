package tenuregrpc_test

import (
	"context"
	"errors"
	"strconv"
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

// guarded runs a server behind a guard, and returns a client that sends no terms by itself.
func guarded(t *testing.T, s *service, mark leaderhttp.Mark, options ...tenuregrpc.GuardOption) *client {
	t.Helper()
	g, err := tenuregrpc.NewGuard(mark, name, options...)
	must(t, g, err)
	l := listen(t, "127.0.0.1:0")
	serve(t, l, s, grpc.UnaryInterceptor(g.Unary), grpc.StreamInterceptor(g.Stream))
	return connect(t, l.Addr().String())
}

// under returns a context whose calls carry a token.
func under(t *testing.T, token string) context.Context {
	t.Helper()
	return metadata.AppendToOutgoingContext(t.Context(),
		tenuregrpc.MetadataElection, name, tenuregrpc.MetadataToken, token)
}

// echo answers a stream at once.
func echo(duplexServer) error { return nil }

func (c *client) callUnder(t *testing.T, token string) error {
	t.Helper()
	_, err := c.UnaryCall(under(t, token), &grpc_testing.SimpleRequest{})
	return err
}

func TestGuardRefusesStaleTokens(t *testing.T) {
	tokens := make(chan uint64, 10)
	c := guarded(t, &service{stream: echo, unary: func(ctx context.Context) error {
		token, _ := tenuregrpc.GuardedToken(ctx)
		tokens <- token
		return nil
	}}, &leaderhttp.MemoryMark{})
	for _, token := range []uint64{5, 5, 7} {
		expectCode(t, c.callUnder(t, strconv.FormatUint(token, 10)), codes.OK)
		if got := <-tokens; got != token {
			t.Errorf("the handler has the token %d, not %d", got, token)
		}
	}
	c.refused(under(t, "5"), t, codes.FailedPrecondition, "token 5 is over: 7 was seen", tenuregrpc.MetadataToken, "7")
	expectCode(t, c.callUnder(t, "7"), codes.OK)
}

func TestGuardRefusesMalformedTokens(t *testing.T) {
	const election, token = tenuregrpc.MetadataElection, tenuregrpc.MetadataToken
	mark := &leaderhttp.MemoryMark{}
	strict := guarded(t, &service{stream: echo}, mark)
	lax := guarded(t, &service{stream: echo}, mark, tenuregrpc.WithTokenOptional())
	for _, pairs := range [][]string{
		nil,
		{token, "5"},
		{election, name},
		{election, "other", token, "5"},
		{election, "%", token, "5"},
		{election, "", token, "5"},
		{election, name, token, ""},
		{election, name, token, "0"},
		{election, name, token, "-1"},
		{election, name, token, "+5"},
		{election, name, token, "05"},
		{election, name, token, "5.0"},
		{election, name, token, "9007199254740992"},
		{election, name, token, "18446744073709551621"},
		{election, name, token, "5", token, "6"},
		{election, name, election, name, token, "5"},
	} {
		ctx := metadata.AppendToOutgoingContext(t.Context(), pairs...)
		strict.refused(ctx, t, codes.InvalidArgument, "", token)
		_, err := lax.UnaryCall(ctx, &grpc_testing.SimpleRequest{})
		if want := codes.InvalidArgument; pairs != nil {
			expectCode(t, err, want)
		} else {
			expectCode(t, err, codes.OK)
		}
	}
	if highest, err := mark.Raise(t.Context(), name, 1); highest != 1 || err != nil {
		t.Errorf("the mark is %d, %v", highest, err)
	}
	ctx := metadata.AppendToOutgoingContext(t.Context(), election, "b%69lling", token, "5")
	_, err := strict.UnaryCall(ctx, &grpc_testing.SimpleRequest{})
	expectCode(t, err, codes.OK)
}

// What cannot be remembered is not served, and its reason is not the caller's business.
func TestGuardServesNothingWithoutItsMark(t *testing.T) {
	broken := leaderhttp.MarkFunc(func(context.Context, string, uint64) (uint64, error) {
		return 0, errors.New("the disk of db-7 is full")
	})
	c := guarded(t, &service{stream: echo}, broken)
	c.refused(under(t, "5"), t, codes.Unavailable, "cannot be told at present", tenuregrpc.MetadataToken)
	if err := c.callUnder(t, "5"); strings.Contains(err.Error(), "db-7") {
		t.Error(err)
	}
}

// A guard that starts anew, as after a restart, knows what its mark knows.
func TestGuardRemembersByItsMark(t *testing.T) {
	mark := &leaderhttp.MemoryMark{}
	expectCode(t, guarded(t, &service{}, mark).callUnder(t, "7"), codes.OK)
	c := guarded(t, &service{stream: echo}, mark)
	c.refused(under(t, "5"), t, codes.FailedPrecondition, "7 was seen", tenuregrpc.MetadataToken, "7")
}

// Between the mark and the handler a call can be overtaken by one of a newer term.
func TestGuardRefusesCallsThatWereOvertaken(t *testing.T) {
	forgetful := leaderhttp.MarkFunc(func(_ context.Context, _ string, token uint64) (uint64, error) { return token, nil })
	c := guarded(t, &service{stream: echo}, forgetful)
	expectCode(t, c.callUnder(t, "7"), codes.OK)
	c.refused(under(t, "5"), t, codes.FailedPrecondition, "7 was seen", tenuregrpc.MetadataToken, "7")
}

// Before a call of a newer term is served, those of earlier ones are told to end, and have ended.
func TestGuardOrdersTerms(t *testing.T) {
	entered, told, leave := make(chan uint64, 3), make(chan error, 1), make(chan struct{})
	c := guarded(t, &service{unary: func(ctx context.Context) error {
		token, _ := tenuregrpc.GuardedToken(ctx)
		entered <- token
		if token > 5 {
			return nil
		}
		<-ctx.Done()
		told <- context.Cause(ctx)
		<-leave
		return ctx.Err()
	}}, &leaderhttp.MemoryMark{})
	older, newer := make(chan error, 1), make(chan error, 1)
	go func() { older <- c.callUnder(t, "5") }()
	<-entered
	go func() { newer <- c.callUnder(t, "7") }()
	if err := <-told; !errors.Is(err, leaderhttp.ErrSuperseded) {
		t.Errorf("the older call ended with %v", err)
	}
	select {
	case token := <-entered:
		t.Errorf("a call of term %d is served beside one of term 5", token)
	case <-time.After(50 * time.Millisecond): // that nothing happens takes time to see
	}
	close(leave)
	expectCode(t, <-newer, codes.OK)
	expectCode(t, <-older, codes.Aborted)
}

// A call that is superseded while it waits for earlier ones learns the highest token, as one that comes too late does.
func TestGuardRefusesCallsThatWereOvertakenWaiting(t *testing.T) {
	entered, waited, leave := make(chan struct{}), make(chan struct{}), make(chan struct{})
	c := guarded(t, &service{stream: echo, unary: func(ctx context.Context) error {
		if token, _ := tenuregrpc.GuardedToken(ctx); token == 5 {
			close(entered)
			<-ctx.Done() // the call of token 6 is there, and waits
			close(waited)
			<-leave
		}
		return nil
	}}, &leaderhttp.MemoryMark{}, tenuregrpc.WithPatience(patience))
	oldest, newest := make(chan error, 1), make(chan error, 1)
	go func() { oldest <- c.callUnder(t, "5") }()
	<-entered
	go func() {
		<-waited
		newest <- c.callUnder(t, "7")
	}()
	c.refused(under(t, "6"), t, codes.FailedPrecondition, "token 6 is over: 7 was seen", tenuregrpc.MetadataToken, "7")
	close(leave)
	expectCode(t, <-newest, codes.OK)
	expectCode(t, <-oldest, codes.OK)
}

// A stream that is open under an earlier term ends, though its client neither sends nor reads.
func TestGuardEndsStreamsOfEarlierTerms(t *testing.T) {
	entered, left := make(chan struct{}), make(chan error, 1)
	c := guarded(t, &service{stream: func(s duplexServer) error {
		close(entered)
		_, err := s.Recv()
		left <- err
		return err
	}}, &leaderhttp.MemoryMark{})
	s, err := c.FullDuplexCall(under(t, "5"))
	must(t, s, err)
	<-entered
	expectCode(t, c.callUnder(t, "7"), codes.OK)
	if err := <-left; !errors.Is(err, leaderhttp.ErrSuperseded) {
		t.Errorf("the stream's handler was told %v", err)
	}
	_, err = s.Recv()
	expectCode(t, err, codes.Aborted)
}

func TestGuardLosesPatience(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	c := guarded(t, &service{stream: echo, unary: func(ctx context.Context) error {
		if token, _ := tenuregrpc.GuardedToken(ctx); token > 5 {
			return nil
		}
		close(entered)
		<-leave // whatever its context says
		return nil
	}}, &leaderhttp.MemoryMark{}, tenuregrpc.WithPatience(10*time.Millisecond))
	older := make(chan error, 1)
	go func() { older <- c.callUnder(t, "5") }()
	<-entered
	expectCode(t, c.callUnder(t, "7"), codes.Unavailable)
	c.refused(under(t, "6"), t, codes.FailedPrecondition, "7 was seen", tenuregrpc.MetadataToken, "7")
	expectCode(t, c.callUnder(t, "8"), codes.Unavailable)
	close(leave)
	expectCode(t, <-older, codes.OK)
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) { // until the call has left the guard
		if err := c.callUnder(t, "8"); err == nil {
			break
		} else if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

func TestGuardRefusesConfiguration(t *testing.T) {
	mark := &leaderhttp.MemoryMark{}
	for what, make := range map[string]func() (*tenuregrpc.Guard, error){
		"no mark":     func() (*tenuregrpc.Guard, error) { return tenuregrpc.NewGuard(nil, name) },
		"no name":     func() (*tenuregrpc.Guard, error) { return tenuregrpc.NewGuard(mark, "") },
		"no patience": func() (*tenuregrpc.Guard, error) { return tenuregrpc.NewGuard(mark, name, tenuregrpc.WithPatience(0)) },
		"no methods":  func() (*tenuregrpc.Guard, error) { return tenuregrpc.NewGuard(mark, name, tenuregrpc.WithMethods()) },
	} {
		if _, err := make(); !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// sending connects with the interceptors that send terms.
func sending(t *testing.T, address string) *client {
	t.Helper()
	return connect(t, address, grpc.WithUnaryInterceptor(tenuregrpc.UnaryClientInterceptor),
		grpc.WithStreamInterceptor(tenuregrpc.StreamClientInterceptor))
}

// won returns a candidate that leads, and its term.
func won(t *testing.T, store tenure.Store, election string) (*tenure.Candidate, tenure.Term) {
	t.Helper()
	c, err := tenure.New(store, election)
	must(t, c, err)
	ok, err := c.TryAcquire(t.Context())
	if !must(t, ok, err) {
		t.Fatal("not elected")
	}
	term, _ := c.Term()
	c.Idle()
	return c, term
}

func TestClientsSendTheirTerm(t *testing.T) {
	const election = "ü / b"
	g, err := tenuregrpc.NewGuard(&leaderhttp.MemoryMark{}, election)
	must(t, g, err)
	l := listen(t, "127.0.0.1:0")
	tokens := make(chan uint64, 2)
	note := func(ctx context.Context) error {
		token, _ := tenuregrpc.GuardedToken(ctx)
		tokens <- token
		return nil
	}
	received := make(chan error, 2)
	serve(t, l, &service{unary: note, stream: func(s duplexServer) error {
		for note(s.Context()); ; {
			_, err := s.Recv()
			received <- err
			if err != nil {
				return err
			}
		}
	}}, grpc.UnaryInterceptor(g.Unary), grpc.StreamInterceptor(g.Stream))
	c := sending(t, l.Addr().String())
	store := memory.New()
	candidate, term := won(t, store, election)

	_, err = c.UnaryCall(t.Context(), &grpc_testing.SimpleRequest{})
	expectCode(t, err, codes.InvalidArgument)
	if !errors.Is(err, leaderhttp.ErrNoTerm) {
		t.Errorf("without a term: %v", err)
	}
	if _, err = c.FullDuplexCall(t.Context()); !errors.Is(err, leaderhttp.ErrNoTerm) {
		t.Errorf("without a term: %v", err)
	}
	// What stands there already, as metadata passed on from a caller, is replaced.
	ctx := metadata.AppendToOutgoingContext(leaderhttp.WithTerm(t.Context(), term), tenuregrpc.MetadataToken, "99")
	_, err = c.UnaryCall(ctx, &grpc_testing.SimpleRequest{})
	expectCode(t, err, codes.OK)
	s, err := c.FullDuplexCall(ctx)
	must(t, s, err)
	if first, second := <-tokens, <-tokens; first != 1 || second != 1 {
		t.Errorf("the tokens %d and %d arrived", first, second)
	}
	if err := s.Send(&grpc_testing.StreamingOutputCallRequest{}); err != nil {
		t.Error(err)
	}
	if err := <-received; err != nil {
		t.Error(err)
	}

	if err := candidate.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"a message": s.Send(&grpc_testing.StreamingOutputCallRequest{}),
		"a call":    func() error { _, err := c.UnaryCall(ctx, &grpc_testing.SimpleRequest{}); return err }(),
		"a stream":  func() error { _, err := c.FullDuplexCall(ctx); return err }(),
	} {
		expectCode(t, err, codes.FailedPrecondition)
		if !errors.Is(err, tenure.ErrNotLeader) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := s.CloseSend(); err != nil {
		t.Error(err)
	}
	if err := <-received; err == nil {
		t.Error("a message was sent after the end of the term")
	}
}

// A handler behind a gate calls a guarded server: the term goes all the way, and a deposed leader gets nowhere.
func TestTermsGoFromGateToGuard(t *testing.T) {
	ledger := listen(t, "127.0.0.1:0")
	g, err := tenuregrpc.NewGuard(&leaderhttp.MemoryMark{}, name)
	must(t, g, err)
	tokens := make(chan uint64, 2)
	serve(t, ledger, &service{unary: func(ctx context.Context) error {
		token, _ := tenuregrpc.GuardedToken(ctx)
		tokens <- token
		return nil
	}}, grpc.UnaryInterceptor(g.Unary))
	write := func(n *node) *node {
		to := sending(t, ledger.Addr().String())
		n.service.unary = func(ctx context.Context) error {
			_, err := to.UnaryCall(ctx, &grpc_testing.SimpleRequest{})
			return err
		}
		return n
	}
	store := memory.New()
	a := write(start(t, store, "a").lead(t))
	b := write(start(t, store, "b"))
	c := follow(t, store)
	c.wait(t, "a")
	if err := a.TransferTo(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	b.lead(t)
	c.wait(t, "b")
	if first, second := <-tokens, <-tokens; first != 1 || second != 2 {
		t.Errorf("the tokens %d and %d arrived", first, second)
	}
	// What the former leader composed under its term, and sends late, is refused.
	expectCode(t, connect(t, ledger.Addr().String()).callUnder(t, "1"), codes.FailedPrecondition)
}
