package tenuregrpc

import (
	"context"
	"fmt"
	"log/slog"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/guard"
	"github.com/tenure-go/tenure/leaderhttp"
)

// Gate serves calls only while the candidate leads. Its methods Unary and Stream are interceptors of a server, for
// [grpc.ChainUnaryInterceptor] and [grpc.ChainStreamInterceptor]. It is safe for concurrent use, and goes with the
// candidate through any number of terms. See the package comment for what callers are answered.
type Gate struct {
	candidate *tenure.Candidate
	methods   methods
	find      findAddress
	logger    *slog.Logger
}

// NewGate returns a gate. The error wraps [tenure.ErrConfig].
func NewGate(candidate *tenure.Candidate, options ...GateOption) (*Gate, error) {
	g := &Gate{candidate: candidate, find: advertised}
	for _, o := range options {
		if o != nil {
			o.applyGate(g)
		}
	}
	if candidate == nil || g.find == nil {
		return nil, fmt.Errorf("%w: a gate needs a candidate and a way to find addresses; one of them is nil",
			tenure.ErrConfig)
	}
	g.logger = logger(g.logger, candidate.Election())
	return g, g.methods.check()
}

// Check returns an error wrapping [tenure.ErrConfig] if [WithMethods] names what a server does not have. Call it with
// what [grpc.Server.GetServiceInfo] returns once all services are registered: a misspelt name would protect nothing.
func (g *Gate) Check(services map[string]grpc.ServiceInfo) error {
	return g.methods.checkServer(services)
}

// Unary is a [grpc.UnaryServerInterceptor]. The context that the handler gets ends with the term, too.
func (g *Gate) Unary(
	ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler,
) (resp any, err error) {
	if !g.methods.has(info.FullMethod) {
		return handler(ctx, req)
	}
	served, err := g.candidate.RunIfLeader(ctx, func(work context.Context, term tenure.Term) error {
		work = leaderhttp.WithTerm(work, term)
		r, err := handler(work, req)
		if err = result(ctx, work, err); err == nil {
			resp = r
		}
		return err
	})
	if served {
		return resp, err
	}
	trailer, err := g.refuse()
	if failure := grpc.SetTrailer(ctx, trailer); failure != nil {
		g.logger.Warn("the refusal has no trailer", "error", failure)
	}
	return nil, err
}

// Stream is a [grpc.StreamServerInterceptor]. The stream's context ends with the term, too, and its reads and writes
// then fail.
func (g *Gate) Stream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if !g.methods.has(info.FullMethod) {
		return handler(srv, ss)
	}
	served, err := g.candidate.RunIfLeader(ss.Context(), func(work context.Context, term tenure.Term) error {
		work = leaderhttp.WithTerm(work, term)
		return result(ss.Context(), work, handler(srv, &stream{ss, work}))
	})
	if served {
		return err
	}
	trailer, err := g.refuse()
	ss.SetTrailer(trailer)
	return err
}

// refuse returns the answer to a call that this process must not serve.
func (g *Gate) refuse() (metadata.MD, error) {
	trailer := metadata.Pairs(MetadataElection, guard.EncodeName(g.candidate.Election()))
	s := g.candidate.Status()
	reason := unreachable(s)
	if reason == "" {
		reason = "this server does not lead"
		address, err := g.find.of(s.Record)
		if err == nil {
			trailer.Set(MetadataAddress, address)
		} else {
			g.logger.Warn("the leader's address cannot be told", "error", err)
		}
	}
	return trailer, &statusError{codes.Unavailable, reason, tenure.ErrNotLeader}
}

// unreachable says why nobody can be sent to the leader that the record shows, if so. A process that leads by the
// record, though it does not trust itself, is the one that was just asked. A leader that was not heard of for its TTL
// does not trust itself any more.
func unreachable(s tenure.Status) string {
	switch {
	case s.Record.Vacant():
		return "there is no leader at present"
	case s.Record.Session == s.Session:
		return "the term of this leader is over"
	case s.Unchanged >= s.Record.TTL:
		return "the leader was not heard of in time"
	}
	return ""
}
