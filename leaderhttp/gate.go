package leaderhttp

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/tenure-go/tenure"
)

// Gate is a handler that serves a request only while the candidate leads, and otherwise tells or brings the client to
// the leader. It is safe for concurrent use, and goes with the candidate through any number of terms.
type Gate struct {
	candidate *tenure.Candidate
	next      http.Handler
	answer    answer
	*gateConfig
}

// NewGate returns a gate in front of next. The error wraps [tenure.ErrConfig].
func NewGate(candidate *tenure.Candidate, next http.Handler, options ...GateOption) (*Gate, error) {
	if candidate == nil || next == nil {
		return nil, fmt.Errorf("%w: a gate needs a candidate and a handler; one of them is nil", tenure.ErrConfig)
	}
	config, err := newGateConfig(options)
	if err != nil {
		return nil, err
	}
	g := &Gate{candidate: candidate, next: next, answer: refuse{}, gateConfig: config}
	if len(config.answers) == 1 {
		g.answer = config.answers[0]
	}
	if p, ok := g.answer.(proxy); ok {
		p.reverse.ErrorLog = slog.NewLogLogger(config.logger.Handler(), slog.LevelWarn)
	}
	return g, nil
}

// ServeHTTP implements [http.Handler]. The request's context, as the handler behind the gate sees it, ends with the
// term too; [Term] finds the term there.
func (g *Gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	hop, err := hopOf(r, g.candidate.Election())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	served, _ := g.candidate.RunIfLeader(r.Context(), func(ctx context.Context, term tenure.Term) error {
		g.serve(ctx, term, w, r, hop)
		return nil
	})
	if !served {
		g.answerElsewhere(w, r, hop)
	}
}

// serve runs the handler as work of the term.
func (g *Gate) serve(ctx context.Context, term tenure.Term, w http.ResponseWriter, r *http.Request, hop hop) {
	inner := r.WithContext(WithTerm(ctx, term))
	if hop.token != 0 {
		inner = hop.strip(inner)
	}
	b := bound{conn: http.NewResponseController(w), grace: g.graceNow}
	b.serve(ctx, r.Context(), func() { g.next.ServeHTTP(w, inner) })
}

// graceNow is what a handler gets after the end of a term.
func (g *Gate) graceNow() time.Duration {
	if g.graced {
		return g.grace
	}
	ttl := g.candidate.Status().Record.TTL
	if ttl == 0 {
		ttl = tenure.DefaultTTL
	}
	return ttl / 10
}

// answerElsewhere answers a request that this process must not serve.
func (g *Gate) answerElsewhere(w http.ResponseWriter, r *http.Request, hop hop) {
	w.Header().Set("Cache-Control", "no-store")
	s := g.candidate.Status()
	if reason := unreachable(s, hop.token); reason != "" {
		g.unavailable(w, reason)
		return
	}
	g.answer.answer(g, w, r, leader{record: s.Record, hop: hop})
}

// unreachable says why nobody can be sent to the leader that the record shows, if so. A process that leads by the
// record, though it does not trust itself, is the one that was just asked. A leader that was not heard of for its TTL
// does not trust itself any more. And a term for which the request was sent on before is one for which somebody
// already found that its leader does not serve.
func unreachable(s tenure.Status, hop uint64) string {
	switch {
	case s.Record.Vacant():
		return "there is no leader at present"
	case s.Record.Session == s.Session:
		return "the term of this leader is over"
	case s.Unchanged >= s.Record.TTL:
		return "the leader was not heard of in time"
	case s.Record.Token <= hop:
		return "the request was passed on before for this term, and its leader does not serve"
	}
	return ""
}

// unavailable answers 503.
func (g *Gate) unavailable(w http.ResponseWriter, reason string) {
	unavailable(w, reason, g.retryAfter)
}

func unavailable(w http.ResponseWriter, reason string, retryAfter time.Duration) {
	w.Header().Set("Retry-After", fmt.Sprint(int(retryAfter/time.Second)))
	http.Error(w, reason, http.StatusServiceUnavailable)
}
