package tenuregrpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/guard"
	"github.com/tenure-go/tenure/leaderhttp"
)

// Guard refuses calls of deposed leaders. Its methods Unary and Stream are interceptors of a server, which answer
//
//   - InvalidArgument if a call has no fencing token and needs one, or one that is malformed or of another election,
//   - FailedPrecondition if its token is lower than the highest seen, which the trailer names in [MetadataToken],
//   - Unavailable if the mark cannot be raised, or if calls of an earlier term do not return in time,
//   - Aborted if a higher token arrived while the call was being served, and its handler gave up for that: it may have
//     been carried out in part.
//
// One guard goes in front of everything that changes the same data, since two of them do not wait for each other's
// calls. It is safe for concurrent use. See the package comment for what it cannot do.
type Guard struct {
	mark     leaderhttp.Mark
	election string
	methods  methods
	rounds   *guard.Rounds
	optional bool
	patience time.Duration
	logger   *slog.Logger
}

// NewGuard returns a guard of the election. Guards may share a mark. The error wraps [tenure.ErrConfig].
func NewGuard(mark leaderhttp.Mark, election string, options ...GuardOption) (*Guard, error) {
	if mark == nil {
		return nil, fmt.Errorf("%w: a guard needs a mark", tenure.ErrConfig)
	}
	if err := tenure.CheckElection(election); err != nil {
		return nil, err
	}
	g := &Guard{
		mark: mark, election: election, rounds: guard.NewRounds(leaderhttp.ErrSuperseded), patience: 10 * time.Second,
	}
	for _, o := range options {
		if o != nil {
			o.applyGuard(g)
		}
	}
	if g.patience <= 0 {
		return nil, fmt.Errorf("%w: the patience %v must be more than 0", tenure.ErrConfig, g.patience)
	}
	g.logger = logger(g.logger, election)
	return g, g.methods.check()
}

// Check returns an error wrapping [tenure.ErrConfig] if [WithMethods] names what a server does not have. Call it with
// what [grpc.Server.GetServiceInfo] returns once all services are registered: a misspelt name would protect nothing.
func (g *Guard) Check(services map[string]grpc.ServiceInfo) error {
	return g.methods.checkServer(services)
}

// guardedKey finds, in a context, the token that a guard has let through.
type guardedKey struct{}

// GuardedToken returns the token of the call that a [Guard] let through, false in a call without one.
func GuardedToken(ctx context.Context) (uint64, bool) {
	token, ok := ctx.Value(guardedKey{}).(uint64)
	return token, ok
}

// Unary is a [grpc.UnaryServerInterceptor]. The context that the handler gets also ends, with
// [leaderhttp.ErrSuperseded], when a call with a higher token arrives.
func (g *Guard) Unary(
	ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler,
) (any, error) {
	if !g.guards(ctx, info.FullMethod) {
		return handler(ctx, req)
	}
	work, leave, err := g.enter(ctx)
	if err != nil {
		if failure := grpc.SetTrailer(ctx, err.trailer); failure != nil {
			g.logger.Warn("the refusal has no trailer", "error", failure)
		}
		return nil, err
	}
	defer leave()
	resp, failure := handler(work, req)
	return resp, result(ctx, work, failure)
}

// Stream is a [grpc.StreamServerInterceptor]. The stream's context also ends, with [leaderhttp.ErrSuperseded], when a
// call with a higher token arrives; its reads and writes fail from then on.
func (g *Guard) Stream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	ctx := ss.Context()
	if !g.guards(ctx, info.FullMethod) {
		return handler(srv, ss)
	}
	work, leave, err := g.enter(ctx)
	if err != nil {
		ss.SetTrailer(err.trailer)
		return err
	}
	defer leave()
	return result(ctx, work, handler(srv, &stream{ss, work}))
}

// guards reports whether a call needs to be checked.
func (g *Guard) guards(ctx context.Context, fullMethod string) bool {
	md, _ := metadata.FromIncomingContext(ctx)
	return g.methods.has(fullMethod) && (!g.optional || carriesTerm(md))
}

// refusal is an error with what the trailer says about it.
type refusal struct {
	statusError
	trailer metadata.MD
}

func (g *Guard) refusal(code codes.Code, text string) *refusal {
	return &refusal{
		statusError{code: code, text: text}, metadata.Pairs(MetadataElection, guard.EncodeName(g.election)),
	}
}

// enter admits a call whose token is the highest, once no call of an earlier term is left.
func (g *Guard) enter(ctx context.Context) (work context.Context, leave func(), _ *refusal) {
	md, _ := metadata.FromIncomingContext(ctx)
	token, err := termOf(md, g.election)
	if err != nil {
		return nil, nil, g.refusal(codes.InvalidArgument, err.Error())
	}
	highest, err := g.mark.Raise(ctx, g.election, token)
	if err != nil {
		g.logger.Error("the mark could not be raised", "token", token, "error", err)
		return nil, nil, g.refusal(codes.Unavailable, "whether the call's term is the newest cannot be told at present")
	}
	if highest > token {
		return nil, nil, g.stale(token, highest)
	}
	return g.join(ctx, token)
}

// join adds a call to those of its token.
func (g *Guard) join(ctx context.Context, token uint64) (work context.Context, leave func(), _ *refusal) {
	round, newest := g.rounds.Enter(token)
	if round == nil {
		return nil, nil, g.stale(token, newest)
	}
	if refused := g.await(ctx, round); refused != nil {
		g.rounds.Leave(round)
		return nil, nil, refused
	}
	work, end := round.Work(context.WithValue(ctx, guardedKey{}, token))
	return work, func() {
		end()
		g.rounds.Leave(round)
	}, nil
}

func (g *Guard) await(ctx context.Context, round *guard.Round) *refusal {
	ctx, cancel := context.WithTimeout(ctx, g.patience)
	defer cancel()
	err := round.Await(ctx)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, leaderhttp.ErrSuperseded):
		return g.stale(round.Token, g.rounds.Highest())
	}
	g.logger.Error("calls of an earlier term have not returned", "token", round.Token, "error", err)
	return g.refusal(codes.Unavailable, "a call of an earlier term has not ended yet")
}

func (g *Guard) stale(token, highest uint64) *refusal {
	g.logger.Warn("a call of a term that is over was refused", "token", token, "highest", highest)
	r := g.refusal(codes.FailedPrecondition, fmt.Sprintf("the term with token %d is over: %d was seen", token, highest))
	r.trailer.Set(MetadataToken, strconv.FormatUint(highest, 10))
	return r
}
