package leaderhttp

import (
	"context"
	"fmt"
	"strconv"

	"github.com/tenure-go/tenure"
)

// The headers that carry a term. A [Transport] sends them, a [Guard] demands them.
const (
	// HeaderElection is the election's name, everything but letters, digits and "-._~" percent-encoded.
	HeaderElection = "Tenure-Election"
	// HeaderToken is the fencing token in decimal digits. In an answer of 412 it is the mark that was found.
	HeaderToken = "Tenure-Token"
)

// workKey finds, in a context, the term under which work is done.
type workKey struct{}

// work is the term that a context belongs to.
type work interface {
	// token returns the token, false if the term is over.
	token() (uint64, bool)
	election() string
}

// WithTerm returns a context under which a [Transport] sends the term's token. It should be made from the context that
// ends with the term, which [tenure.Candidate.Run] gives to its function.
func WithTerm(ctx context.Context, term tenure.Term) context.Context {
	return context.WithValue(ctx, workKey{}, held{term})
}

// Token returns the fencing token of the term under which work with ctx is done: in a handler behind a [Gate], or after
// [WithTerm]. It is false if there is no such term, or the term is over by the clock. Pass it on to what the work
// changes.
func Token(ctx context.Context) (uint64, bool) {
	w, ok := ctx.Value(workKey{}).(work)
	if !ok {
		return 0, false
	}
	return w.token()
}

// held is a term that the caller holds.
type held struct{ term tenure.Term }

func (h held) token() (uint64, bool) { return h.term.Token, h.term.Valid() }
func (h held) election() string      { return h.term.Election }

// gated is a request that a gate let through. While it is being served the candidate can begin no other term, and ctx
// ends with the serving.
type gated struct {
	ctx       context.Context
	candidate *tenure.Candidate
}

// token asks for the status, since a term that is asked for counts as handed out, and would cost the whole drain.
func (g gated) token() (uint64, bool) {
	s := g.candidate.Status()
	leads := s.State == tenure.StateLeader && s.Record.Session == s.Session
	return s.Record.Token, leads && g.ctx.Err() == nil
}

func (g gated) election() string { return g.candidate.Election() }

// parseToken accepts a token in the one form in which it is sent.
func parseToken(text string) (uint64, error) {
	token, err := strconv.ParseUint(text, 10, 64)
	if err != nil || token == 0 || token > tenure.MaxToken || strconv.FormatUint(token, 10) != text {
		return 0, fmt.Errorf("%.40q is no fencing token, which is a number from 1 to %d", text, uint64(tenure.MaxToken))
	}
	return token, nil
}
