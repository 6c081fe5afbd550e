package sidecar

import (
	"cmp"
	"slices"
	"time"

	"github.com/tenure-go/tenure"
)

// view is how an election stands, in JSON. The names are stable.
type view struct {
	Election string `json:"election"`
	// Mode is "stand" if the sidecar itself stands, "campaign" if its clients do.
	Mode string `json:"mode"`
	// State is that of "tenure status --json", or "unknown" before the store was reached.
	State    string            `json:"state"`
	Leader   string            `json:"leader"`
	Token    uint64            `json:"token"`
	TTL      int64             `json:"ttl_ms,omitempty"`
	Since    time.Time         `json:"elected_at,omitzero"`
	Address  string            `json:"address,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
	Reserved string            `json:"reserved_for,omitempty"`
	Request  *tenure.Request   `json:"request,omitempty"`
	Pause    *tenure.Pause     `json:"pause,omitempty"`
	// ID is that of the sidecar, and Leading whether its own candidate leads now.
	ID      string `json:"id"`
	Leading bool   `json:"leading"`
	trust
	Candidates []candidateView `json:"candidates"`
	Error      string          `json:"error,omitempty"`
}

// candidateView is a candidate of this sidecar.
type candidateView struct {
	ID           string `json:"id"`
	Own          bool   `json:"own"`
	State        string `json:"state"`
	Trust        int64  `json:"trust_ms"`
	SafetyMargin int64  `json:"safety_margin_ms"`
	Latency      int64  `json:"latency_ms"`
	Error        string `json:"last_error,omitempty"`
}

// view tells how an election stands now.
func (s *Sidecar) view(e *election) view {
	now, seen, candidates, err := e.look()
	v := s.viewOf(e, now, seen)
	if err != nil {
		v.Error = err.Error()
	}
	for _, c := range candidates {
		v.Candidates = append(v.Candidates, viewOfCandidate(c, c == e.own))
	}
	slices.SortFunc(v.Candidates, func(a, b candidateView) int { return cmp.Compare(a.ID, b.ID) })
	return v
}

// viewOf is a view without the candidates, which streams do not repeat with every event.
func (s *Sidecar) viewOf(e *election, now tenure.Change, seen bool) view {
	r := now.Record
	v := view{
		Election: e.Name, Mode: e.mode(), State: "unknown", ID: s.id, Leader: r.Leader, Token: r.Token,
		TTL: r.TTL.Milliseconds(), Address: r.Address, Metadata: r.Metadata, Reserved: r.Reserved, Pause: r.Pause,
		Candidates: []candidateView{},
	}
	if seen {
		v.State, _ = s.options.Describe(tenure.Change{}, now)
	}
	if !r.Vacant() {
		v.Since = r.ElectedAt
		if r.Request != nil && r.Request.Token == r.Token {
			v.Request = r.Request
		}
	}
	if e.own != nil {
		s.viewLead(e, &v)
	}
	return v
}

// viewLead tells whether the own candidate leads. It may know so before the observer does.
func (s *Sidecar) viewLead(e *election, v *view) {
	term, leading := s.lead(e)
	if !leading {
		return
	}
	if v.trust = trustOf(term); v.Milliseconds == 0 {
		return
	}
	v.Leading = true
	if v.Token < term.Token {
		v.Token, v.Leader, v.TTL, v.Address, v.Metadata = term.Token, term.Leader, e.TTL.Milliseconds(), e.Address, e.Metadata
		v.Since, v.Reserved, v.Request = time.Time{}, "", nil
		v.State, _ = s.options.Describe(tenure.Change{}, tenure.Change{Exists: true, Record: tenure.Record{Leader: s.id}})
	}
}

func viewOfCandidate(c *tenure.Candidate, own bool) candidateView {
	status := c.Status()
	v := candidateView{
		ID: status.ID, Own: own, State: status.State.String(), Trust: status.Trust.Milliseconds(),
		SafetyMargin: status.SafetyMargin.Milliseconds(), Latency: status.Latency.Milliseconds(),
	}
	if status.LastError != nil {
		v.Error = status.LastError.Error()
	}
	return v
}

func (e Election) mode() string {
	if e.Campaign {
		return "campaign"
	}
	return "stand"
}
