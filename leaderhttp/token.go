package leaderhttp

import (
	"context"

	"github.com/tenure-go/tenure"
)

// The headers that carry a term. A [Transport] sends them, a [Guard] demands them.
const (
	// HeaderElection is the election's name, everything but letters, digits and "-._~" percent-encoded.
	HeaderElection = "Tenure-Election"
	// HeaderToken is the fencing token in decimal digits. In an answer of 412 it is the mark that was found.
	HeaderToken = "Tenure-Token"
)

// termKey finds, in a context, the term under which work is done.
type termKey struct{}

// WithTerm returns a context under which a [Transport] sends the term's token. It should be made from the context that
// ends with the term, which [tenure.Candidate.Run] gives to its function.
func WithTerm(ctx context.Context, term tenure.Term) context.Context {
	return context.WithValue(ctx, termKey{}, term)
}

// Term returns the term under which work with ctx is done: in a handler behind a [Gate], or after [WithTerm]. It is
// false if there is none; whether the term still stands its Valid tells. Pass its token on to what the work changes.
func Term(ctx context.Context) (tenure.Term, bool) {
	term, ok := ctx.Value(termKey{}).(tenure.Term)
	return term, ok
}
