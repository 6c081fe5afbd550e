package leaderhttp

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/tenure-go/tenure"
)

// Probes answers load balancers, Kubernetes and people about the candidates of a process. Its methods are handlers;
// the Probes itself serves them as /leader, /healthz, /readyz and /status. All of it is from memory: nothing is asked
// of a store, and no answer counts as leadership handed out (see [tenure.Candidate.State]). It is safe for
// concurrent use.
//
// The answers name elections, candidates and addresses, and errors of the store: serve them where the public cannot
// reach them.
type Probes struct {
	candidates []*tenure.Candidate
	mux        *http.ServeMux
}

// NewProbes returns the probes of one or more candidates of different elections. The error wraps [tenure.ErrConfig].
func NewProbes(candidates ...*tenure.Candidate) (*Probes, error) {
	if len(candidates) == 0 {
		return nil, fmt.Errorf("%w: probes need at least one candidate", tenure.ErrConfig)
	}
	for i, c := range candidates {
		if c == nil {
			return nil, fmt.Errorf("%w: a candidate is nil", tenure.ErrConfig)
		}
		same := func(other *tenure.Candidate) bool { return other.Election() == c.Election() }
		if slices.ContainsFunc(candidates[:i], same) {
			return nil, fmt.Errorf("%w: two candidates stand in the election %q", tenure.ErrConfig, c.Election())
		}
	}
	p := &Probes{candidates: slices.Clone(candidates), mux: http.NewServeMux()}
	p.mux.HandleFunc("/leader", p.Leader)
	p.mux.HandleFunc("/healthz", p.Healthz)
	p.mux.HandleFunc("/readyz", p.Readyz)
	p.mux.HandleFunc("/status", p.Status)
	return p, nil
}

// ServeHTTP implements [http.Handler].
func (p *Probes) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.mux.ServeHTTP(w, r) }

// Leader answers 200 if the candidate leads at this moment, by the clock, and 503 if not. With several candidates the
// query names one: ?election=billing. A load balancer acts on the answer only some time later: put a [Gate] before what
// the leader alone may do.
func (p *Probes) Leader(w http.ResponseWriter, r *http.Request) {
	if !asks(w, r) {
		return
	}
	c, status, err := p.choose(r.URL.Query()["election"])
	if err != nil {
		http.Error(w, err.Error(), status)
		return
	}
	say(w, c.State() == tenure.StateLeader, "leader", "not the leader")
}

// choose finds the candidate that a question is about. With an error it says which status to answer.
func (p *Probes) choose(names []string) (c *tenure.Candidate, status int, err error) {
	switch {
	case len(names) == 0 && len(p.candidates) == 1:
		return p.candidates[0], 0, nil
	case len(names) != 1:
		return nil, http.StatusBadRequest, fmt.Errorf("name one election: ?election=NAME")
	}
	for _, c := range p.candidates {
		if c.Election() == names[0] {
			return c, 0, nil
		}
	}
	return nil, http.StatusNotFound, fmt.Errorf("no candidate here stands in the election %q", names[0])
}

// Healthz answers 503 while a candidate is overrun, that is, while leader work ignores the end of its term, so that the
// candidate cannot stand: if that lasts, nothing but a restart helps. Otherwise it answers 200, also while the store is
// away, since a restart would not bring it back.
func (p *Probes) Healthz(w http.ResponseWriter, r *http.Request) {
	p.all(w, r, func(s tenure.State) bool { return s != tenure.StateOverrun })
}

// Readyz answers 200 while every candidate stands in its election, leading or not, and 503 otherwise. It does not
// depend on the store: an outage would take all processes of the election out of service at once.
func (p *Probes) Readyz(w http.ResponseWriter, r *http.Request) {
	p.all(w, r, func(s tenure.State) bool { return s != tenure.StateOverrun && s != tenure.StateStopped })
}

// all answers whether every candidate is in order, and otherwise which is not.
func (p *Probes) all(w http.ResponseWriter, r *http.Request, inOrder func(tenure.State) bool) {
	if !asks(w, r) {
		return
	}
	for _, c := range p.candidates {
		if s := c.State(); !inOrder(s) {
			say(w, false, "", fmt.Sprintf("the candidate of %q is %v", c.Election(), s))
			return
		}
	}
	say(w, true, "ok", "")
}

// asks refuses requests that do not just ask.
func asks(w http.ResponseWriter, r *http.Request) bool {
	w.Header().Set("Cache-Control", "no-store")
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	w.Header().Set("Allow", "GET, HEAD")
	http.Error(w, "use GET", http.StatusMethodNotAllowed)
	return false
}

func say(w http.ResponseWriter, ok bool, yes, no string) {
	if !ok {
		http.Error(w, no, http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	fmt.Fprintln(w, yes)
}
