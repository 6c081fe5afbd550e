package sidecar

import (
	"cmp"
	"slices"
	"time"

	"github.com/tenure-go/tenure"
)

// standing is how an election stands by what is seen in the store, in JSON. The names are stable.
type standing struct {
	Election string `json:"election"`
	// Mode is "stand" if the sidecar itself stands, "campaign" if its clients do.
	Mode string `json:"mode"`
	// State is that of "tenure status --json", or "unknown" before the store was reached.
	State  string `json:"state"`
	Leader string `json:"leader"`
	Token  uint64 `json:"token"`
	TTL    int64  `json:"ttl_ms,omitempty"`
	// Unchanged is for how long the leader's record was seen without a renewal. After the TTL the seat can be taken.
	Unchanged int64             `json:"unchanged_ms"`
	Since     time.Time         `json:"elected_at,omitzero"`
	Address   string            `json:"address,omitempty"`
	Metadata  map[string]string `json:"metadata,omitempty"`
	Reserved  string            `json:"reserved_for,omitempty"`
	Request   *tenure.Request   `json:"request,omitempty"`
	Pause     *tenure.Pause     `json:"pause,omitempty"`
	// ID is that of the sidecar.
	ID string `json:"id"`
}

// view is how an election stands, with what can be acted on.
type view struct {
	standing
	// Leading tells whether the sidecar's own candidate leads now.
	Leading bool `json:"leading"`
	trust
	company
}

// company is what this sidecar has in an election.
type company struct {
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
	v.company = companyOf(e, candidates, err)
	return v
}

// viewOf is a view without the candidates, which streams do not repeat with every event.
func (s *Sidecar) viewOf(e *election, now tenure.Change, seen bool) view {
	v := view{standing: s.standingOf(e, now, seen), company: company{Candidates: []candidateView{}}}
	if e.own != nil {
		s.viewLead(e, &v)
	}
	return v
}

func (s *Sidecar) standingOf(e *election, now tenure.Change, seen bool) standing {
	r := now.Record
	v := standing{
		Election: e.Name, Mode: e.mode(), State: "unknown", ID: s.id, Leader: r.Leader, Token: r.Token,
		TTL: r.TTL.Milliseconds(), Address: r.Address, Metadata: r.Metadata, Reserved: r.Reserved, Pause: r.Pause,
	}
	if seen {
		v.State, _ = s.options.Describe(tenure.Change{}, now)
	}
	if !r.Vacant() {
		v.Unchanged = time.Since(now.UnchangedSince).Milliseconds()
		v.Since = r.ElectedAt
		if r.Request != nil && r.Request.Token == r.Token {
			v.Request = r.Request
		}
	}
	return v
}

func companyOf(e *election, candidates []*tenure.Candidate, err error) company {
	c := company{Candidates: []candidateView{}}
	if err != nil {
		c.Error = err.Error()
	}
	for _, candidate := range candidates {
		c.Candidates = append(c.Candidates, viewOfCandidate(candidate, candidate == e.own))
	}
	slices.SortFunc(c.Candidates, func(a, b candidateView) int { return cmp.Compare(a.ID, b.ID) })
	return c
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
		v.Since, v.Unchanged, v.Reserved, v.Request = time.Time{}, 0, "", nil
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
