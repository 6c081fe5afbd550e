package tenuregrpc

import (
	"context"
	"fmt"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/guard"
	"github.com/tenure-go/tenure/leaderhttp"
)

// The metadata that carry a term, the same as the headers of package leaderhttp.
const (
	// MetadataElection is the election's name, everything but letters, digits and "-._~" percent-encoded. In the
	// trailer of an answer it says that a gate or a guard has refused the call.
	MetadataElection = "tenure-election"
	// MetadataToken is the fencing token in decimal digits. In the trailer of an answer it is the mark that a guard has
	// found.
	MetadataToken = "tenure-token"
	// MetadataAddress is, in the trailer of a gate's refusal, the address of the leader.
	MetadataAddress = "tenure-address"
)

// UnaryClientInterceptor is a [grpc.UnaryClientInterceptor] for leader work: it sends each call with the election and
// the fencing token of the term that the call's context belongs to ([leaderhttp.WithTerm]), for a [Guard] to check. A
// call whose term is over by the clock is not sent; the error has the code FailedPrecondition and wraps
// [tenure.ErrNotLeader]. One without a term is not sent either, with InvalidArgument and [leaderhttp.ErrNoTerm]. A call
// that is under way when the term ends is left to its context, and to the guard.
func UnaryClientInterceptor(
	ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoker grpc.UnaryInvoker,
	opts ...grpc.CallOption,
) error {
	ctx, _, err := fenced(ctx)
	if err != nil {
		return err
	}
	return invoker(ctx, method, req, reply, cc, opts...)
}

// StreamClientInterceptor is [UnaryClientInterceptor] for streams. It also refuses to send a message once the term is
// over by the clock.
func StreamClientInterceptor(
	ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, streamer grpc.Streamer,
	opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	ctx, term, err := fenced(ctx)
	if err != nil {
		return nil, err
	}
	s, err := streamer(ctx, desc, cc, method, opts...)
	if err != nil {
		return nil, err
	}
	return &fencedStream{s, term}, nil
}

// fencedStream checks the term by the clock before each message.
type fencedStream struct {
	grpc.ClientStream
	term tenure.Term
}

func (s *fencedStream) SendMsg(m any) error {
	if err := checkTerm(s.term); err != nil {
		return err
	}
	return s.ClientStream.SendMsg(m)
}

// fenced returns a context with the term's metadata, in place of what may stand there.
func fenced(ctx context.Context) (context.Context, tenure.Term, error) {
	term, ok := leaderhttp.Term(ctx)
	if !ok {
		return nil, term, &statusError{codes.InvalidArgument, leaderhttp.ErrNoTerm.Error(), leaderhttp.ErrNoTerm}
	}
	if err := checkTerm(term); err != nil {
		return nil, term, err
	}
	md, ok := metadata.FromOutgoingContext(ctx)
	if !ok {
		md = metadata.MD{}
	}
	md.Set(MetadataElection, guard.EncodeName(term.Election))
	md.Set(MetadataToken, strconv.FormatUint(term.Token, 10))
	return metadata.NewOutgoingContext(ctx, md), term, nil
}

func checkTerm(term tenure.Term) error {
	if term.Valid() {
		return nil
	}
	text := fmt.Sprintf("not sent, since the term with token %d of %q is over", term.Token, term.Election)
	return &statusError{codes.FailedPrecondition, text, tenure.ErrNotLeader}
}

func carriesTerm(md metadata.MD) bool {
	return len(md.Get(MetadataElection))+len(md.Get(MetadataToken)) > 0
}

// termOf reads the token of the election from a call's metadata.
func termOf(md metadata.MD, election string) (uint64, error) {
	elections, tokens := md.Get(MetadataElection), md.Get(MetadataToken)
	if len(elections) != 1 || len(tokens) != 1 {
		return 0, fmt.Errorf("the call needs the metadata %s and %s, each once", MetadataElection, MetadataToken)
	}
	name, err := guard.DecodeName(elections[0])
	if err != nil {
		return 0, fmt.Errorf("%s is malformed: %w", MetadataElection, err)
	}
	if name != election {
		return 0, fmt.Errorf("%s is %.80q, but the election is %q", MetadataElection, name, election)
	}
	token, err := guard.ParseToken(tokens[0])
	if err != nil {
		return 0, fmt.Errorf("%s is malformed: %w", MetadataToken, err)
	}
	return token, nil
}
