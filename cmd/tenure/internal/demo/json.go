package demo

import (
	"encoding/json"
	"io"
	"strings"
)

// JSON shows a demo to programs, one object per line: {"event": …} for each event and {"summary": …} at last.
type JSON struct{ Out io.Writer }

// Begin implements [Display].
func (JSON) Begin(Options) {}

// Event implements [Display].
func (j JSON) Event(e Event) {
	j.write(map[string]any{"event": eventJSON{
		At: e.At.Seconds(), What: e.What, Node: e.Node, Token: e.Token, Wanted: e.Wanted,
		Outcome: strings.TrimPrefix(e.Outcome, "→ "), Leader: e.Leader, NewToken: e.NewToken, After: e.After.Seconds(),
	}})
}

// Frame implements [Display].
func (JSON) Frame(View) {}

// End implements [Display].
func (JSON) End() {}

// Summary implements [Display].
func (j JSON) Summary(s Summary) {
	j.write(map[string]any{"summary": summaryJSON{
		Nodes: s.Nodes, TTL: s.TTL.Seconds(), Seed: s.Seed, Unsafe: s.Unsafe, Lasted: s.Lasted.Seconds(),
		Faults: s.Faults, Terms: s.Terms, FirstToken: s.FirstToken, LastToken: s.LastToken, Led: s.Led,
		HandOver: s.HandOver.json(), AfterKill: s.AfterKill.json(), AfterFreeze: s.AfterFreeze.json(),
		Failures: s.Failures, LastFailure: s.LastFailure,
		Overlaps: len(s.Findings.Overlaps), Findings: s.Findings.lines(),
	}})
}

// write prints an object. If nobody reads on, the demo goes on.
func (j JSON) write(v any) {
	encoder := json.NewEncoder(j.Out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(v)
}

// eventJSON is the JSON form of an event. The names of fields are stable.
type eventJSON struct {
	At       float64 `json:"at_seconds"`
	What     string  `json:"what"`
	Node     string  `json:"node,omitempty"`
	Token    uint64  `json:"token,omitempty"`
	Wanted   string  `json:"to,omitempty"`
	Outcome  string  `json:"outcome"`
	Leader   string  `json:"leader,omitempty"`
	NewToken uint64  `json:"new_token,omitempty"`
	After    float64 `json:"after_seconds,omitempty"`
}

// summaryJSON is the JSON form of the summary. The names of fields are stable.
type summaryJSON struct {
	Nodes       int       `json:"nodes"`
	TTL         float64   `json:"ttl_seconds"`
	Seed        uint64    `json:"seed"`
	Unsafe      bool      `json:"unsafe"`
	Lasted      float64   `json:"lasted_seconds"`
	Faults      int       `json:"faults"`
	Terms       int       `json:"terms"`
	FirstToken  uint64    `json:"first_token"`
	LastToken   uint64    `json:"last_token"`
	Led         float64   `json:"led"`
	HandOver    timesJSON `json:"hand_over"`
	AfterKill   timesJSON `json:"after_kill"`
	AfterFreeze timesJSON `json:"after_freeze"`
	Failures    int       `json:"store_failures"`
	LastFailure string    `json:"last_store_failure,omitempty"`
	Overlaps    int       `json:"overlaps"`
	Findings    []string  `json:"findings"`
}

type timesJSON struct {
	Count int     `json:"count"`
	P50   float64 `json:"p50_seconds"`
	Max   float64 `json:"max_seconds"`
}

func (t Times) json() timesJSON { return timesJSON{t.Count, t.P50.Seconds(), t.Max.Seconds()} }
