package leaderhttp

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/guard"
)

// ErrNoTerm: a request was not sent, because its context belongs to no term. See [WithTerm].
var ErrNoTerm = errors.New("leaderhttp: the request's context belongs to no term")

// Transport is an [http.RoundTripper] for leader work: it sends each request with the election and the fencing token of
// the term that the request's context belongs to, in [HeaderElection] and [HeaderToken], for a [Guard] to check. It is
// safe for concurrent use.
type Transport struct{ base http.RoundTripper }

// NewTransport returns a transport that sends through base, [http.DefaultTransport] if nil.
func NewTransport(base http.RoundTripper) *Transport { return &Transport{base} }

// RoundTrip implements [http.RoundTripper]. A request whose term is over by the clock is not sent; the error then wraps
// [tenure.ErrNotLeader]. One without a term is not sent either, with [ErrNoTerm]. A request that is under way when the
// term ends is left to its context, and to the guard.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	out, err := fenced(r)
	if err != nil {
		if r.Body != nil {
			err = errors.Join(err, r.Body.Close()) // as every RoundTripper has to
		}
		return nil, err
	}
	base := t.base
	if base == nil {
		base = http.DefaultTransport
	}
	return base.RoundTrip(out)
}

// fenced returns the request with the term's headers.
func fenced(r *http.Request) (*http.Request, error) {
	term, ok := Term(r.Context())
	switch {
	case !ok:
		return nil, ErrNoTerm
	case !term.Valid():
		return nil, fmt.Errorf("leaderhttp: not sent, since the term with token %d of %q is over: %w",
			term.Token, term.Election, tenure.ErrNotLeader)
	}
	out := r.Clone(r.Context())
	out.Header.Set(HeaderElection, guard.EncodeName(term.Election))
	out.Header.Set(HeaderToken, strconv.FormatUint(term.Token, 10))
	return out, nil
}
