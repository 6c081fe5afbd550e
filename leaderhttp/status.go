package leaderhttp

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/tenure-go/tenure"
)

// report is the status of a candidate in JSON. Durations are in seconds.
type report struct {
	Election     string            `json:"election"`
	ID           string            `json:"id"`
	State        string            `json:"state"`
	Leading      bool              `json:"leading"`
	Leader       string            `json:"leader,omitempty"`
	Address      string            `json:"address,omitempty"`
	Metadata     map[string]string `json:"metadata,omitempty"`
	Token        uint64            `json:"token"`
	TTL          float64           `json:"ttl_seconds"`
	Unchanged    float64           `json:"unchanged_seconds"`
	Trust        float64           `json:"trust_seconds"`
	SafetyMargin float64           `json:"safety_margin_seconds"`
	Latency      float64           `json:"latency_seconds"`
	Watching     bool              `json:"watching"`
	Paused       bool              `json:"paused"`
	LastRenewal  time.Time         `json:"last_renewal,omitzero"`
	LastError    string            `json:"last_error,omitempty"`
	LastErrorAt  time.Time         `json:"last_error_at,omitzero"`
	Decisions    []decision        `json:"decisions"`
}

type decision struct {
	At     time.Time `json:"at"`
	Input  string    `json:"input"`
	Effect string    `json:"effect"`
	Token  uint64    `json:"token,omitempty"`
	Reason string    `json:"reason,omitempty"`
}

// Status answers with what every candidate knows (see [tenure.Status]), as a JSON array. Durations are in seconds. The
// session is left out, since it is what proves in the record whose term it is.
func (p *Probes) Status(w http.ResponseWriter, r *http.Request) {
	if !asks(w, r) {
		return
	}
	reports := make([]report, 0, len(p.candidates))
	for _, c := range p.candidates {
		reports = append(reports, reportOf(c.Status()))
	}
	text, err := json.MarshalIndent(reports, "", "  ")
	if err != nil { // a time beyond the year 9999
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(append(text, '\n')) // a client that has gone needs no answer
}

func reportOf(s tenure.Status) report {
	r := report{
		Election: s.Election, ID: s.ID, State: s.State.String(), Leading: s.State == tenure.StateLeader,
		Leader: s.Record.Leader, Address: s.Record.Address, Metadata: s.Record.Metadata, Token: s.Record.Token,
		TTL: s.Record.TTL.Seconds(), Unchanged: s.Unchanged.Seconds(), Trust: s.Trust.Seconds(),
		SafetyMargin: s.SafetyMargin.Seconds(), Latency: s.Latency.Seconds(),
		Watching: s.Watching, Paused: s.Record.Pause != nil,
		LastRenewal: s.LastRenewal, LastErrorAt: s.LastErrorAt, Decisions: make([]decision, 0, len(s.Decisions)),
	}
	if s.LastError != nil {
		r.LastError = s.LastError.Error()
	}
	for _, d := range s.Decisions {
		r.Decisions = append(r.Decisions, decision(d))
	}
	return r
}
