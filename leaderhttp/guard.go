package leaderhttp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/guard"
)

// ErrSuperseded is the cause with which the context of a guarded request ends when one with a higher token arrives.
var ErrSuperseded = errors.New("leaderhttp: a request of a newer term has arrived")

// Guard is a handler that refuses requests of deposed leaders. It answers
//
//   - 428 (Precondition Required) if a request has no fencing token and needs one,
//   - 400 if its token is malformed, or for another election,
//   - 412 (Precondition Failed) if its token is lower than the highest seen, which the answer names in [HeaderToken],
//   - 503 if the mark cannot be raised, or if requests of an earlier term do not return in time.
//
// A request that is being served when a higher token arrives is cut off without an answer: whether it was carried out
// its client cannot know. One guard goes in front of everything that changes the same data, since two of them do not
// wait for each other's requests. It is safe for concurrent use. See the package comment for what it cannot do.
type Guard struct {
	mark     Mark
	election string
	next     http.Handler
	rounds   *guard.Rounds
	guardConfig
}

// GuardOption configures a [Guard].
type GuardOption interface{ apply(*guardConfig) }

type guardOption func(*guardConfig)

func (o guardOption) apply(c *guardConfig) { o(c) }

type guardConfig struct {
	optional bool
	patience time.Duration
	logger   *slog.Logger
}

// WithTokenOptional lets requests through that carry neither election nor token. Those that do are checked.
func WithTokenOptional() GuardOption { return guardOption(func(c *guardConfig) { c.optional = true }) }

// WithPatience sets how long the first request of a new term waits for those of earlier terms to return, before it is
// answered with 503. Default 10 s, more than 0.
func WithPatience(d time.Duration) GuardOption {
	return guardOption(func(c *guardConfig) { c.patience = d })
}

// WithGuardLogger logs to l why marks could not be raised, at level error, and what was refused, at warn. Default:
// silent.
func WithGuardLogger(l *slog.Logger) GuardOption {
	return guardOption(func(c *guardConfig) { c.logger = l })
}

// NewGuard returns a guard of the election in front of next. Guards may share a mark. The error wraps
// [tenure.ErrConfig].
func NewGuard(mark Mark, election string, next http.Handler, options ...GuardOption) (*Guard, error) {
	if mark == nil || next == nil {
		return nil, fmt.Errorf("%w: a guard needs a mark and a handler; one of them is nil", tenure.ErrConfig)
	}
	if err := tenure.CheckElection(election); err != nil {
		return nil, err
	}
	g := &Guard{
		mark: mark, election: election, next: next, rounds: guard.NewRounds(ErrSuperseded),
		guardConfig: guardConfig{patience: 10 * time.Second},
	}
	for _, o := range options {
		if o != nil {
			o.apply(&g.guardConfig)
		}
	}
	if g.patience <= 0 {
		return nil, fmt.Errorf("%w: the patience %v must be more than 0", tenure.ErrConfig, g.patience)
	}
	if g.logger == nil {
		g.logger = slog.New(slog.DiscardHandler)
	}
	g.logger = g.logger.With("election", election)
	return g, nil
}

// guardedKey finds, in a context, the token that a guard has let through.
type guardedKey struct{}

// GuardedToken returns the token of the request that a [Guard] let through, false in a request without one.
func GuardedToken(ctx context.Context) (uint64, bool) {
	token, ok := ctx.Value(guardedKey{}).(uint64)
	return token, ok
}

// ServeHTTP implements [http.Handler]. The request's context, as the handler behind the guard sees it, also ends, with
// [ErrSuperseded], when a request with a higher token arrives; its reads and writes fail from then on.
func (g *Guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g.optional && !carriesTerm(r.Header) {
		g.next.ServeHTTP(w, r)
		return
	}
	token, status, err := termOf(r.Header, g.election)
	if err != nil {
		http.Error(w, err.Error(), status)
		return
	}
	highest, err := g.mark.Raise(r.Context(), g.election, token)
	switch {
	case err != nil:
		g.logger.Error("the mark could not be raised", "token", token, "error", err)
		unavailable(w, "whether the request's term is the newest cannot be told at present", time.Second)
	case highest > token:
		g.stale(w, token, highest)
	default:
		g.serve(w, r, token)
	}
}

// serve runs the handler among the requests of its token, when no earlier ones are left.
func (g *Guard) serve(w http.ResponseWriter, r *http.Request, token uint64) {
	round, highest := g.rounds.Enter(token)
	if round == nil {
		g.stale(w, token, highest)
		return
	}
	defer g.rounds.Leave(round)
	if err := g.await(r.Context(), round); errors.Is(err, ErrSuperseded) {
		g.stale(w, token, g.rounds.Highest())
		return
	} else if err != nil {
		g.logger.Error("requests of an earlier term have not returned", "token", token, "error", err)
		unavailable(w, "a request of an earlier term has not ended yet", time.Second)
		return
	}
	ctx, end := round.Work(context.WithValue(r.Context(), guardedKey{}, token))
	defer end()
	b := bound{conn: http.NewResponseController(w), grace: func() time.Duration { return 0 }}
	b.serve(ctx, r.Context(), func() { g.next.ServeHTTP(w, r.WithContext(ctx)) })
}

// await waits for the requests of earlier terms.
func (g *Guard) await(request context.Context, round *guard.Round) error {
	ctx, cancel := context.WithTimeout(request, g.patience)
	defer cancel()
	return round.Await(ctx)
}

func (g *Guard) stale(w http.ResponseWriter, token, highest uint64) {
	g.logger.Warn("a request of a term that is over was refused", "token", token, "highest", highest)
	w.Header().Set(HeaderToken, strconv.FormatUint(highest, 10))
	http.Error(w, fmt.Sprintf("the term with token %d is over: %d was seen", token, highest),
		http.StatusPreconditionFailed)
}

func carriesTerm(h http.Header) bool {
	return len(h.Values(HeaderToken))+len(h.Values(HeaderElection)) > 0
}

// termOf reads the token of the election from a request's headers. With an error it says which status to answer.
func termOf(h http.Header, election string) (token uint64, status int, err error) {
	tokens, elections := h.Values(HeaderToken), h.Values(HeaderElection)
	switch {
	case len(tokens) == 0 || len(elections) == 0:
		return 0, http.StatusPreconditionRequired,
			fmt.Errorf("the request needs the headers %s and %s", HeaderElection, HeaderToken)
	case len(tokens) > 1 || len(elections) > 1:
		return 0, http.StatusBadRequest, fmt.Errorf("%s or %s stands more than once", HeaderElection, HeaderToken)
	}
	name, err := guard.DecodeName(elections[0])
	if err != nil {
		return 0, http.StatusBadRequest, fmt.Errorf("%s is malformed: %w", HeaderElection, err)
	}
	if name != election {
		return 0, http.StatusBadRequest, fmt.Errorf("%s is %q, but the election is %q", HeaderElection, name, election)
	}
	if token, err = guard.ParseToken(tokens[0]); err != nil {
		return 0, http.StatusBadRequest, fmt.Errorf("%s is malformed: %w", HeaderToken, err)
	}
	return token, 0, nil
}
