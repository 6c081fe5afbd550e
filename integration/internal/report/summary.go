package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tenure-go/tenure/integration/internal/check"
	"github.com/tenure-go/tenure/integration/internal/history"
)

// Summary is what is kept of a run.
type Summary struct {
	Store      string    `json:"store"`
	Server     string    `json:"server,omitempty"`
	Grade      string    `json:"grade"`
	Reasons    []string  `json:"reasons,omitempty"`
	Began      time.Time `json:"began"`
	Seconds    float64   `json:"seconds"`
	Seed       uint64    `json:"seed"`
	Command    string    `json:"command"`
	Candidates int       `json:"candidates"`
	TTL        string    `json:"ttl"`

	Machine     map[string]string `json:"machine,omitempty"`
	Versions    map[string]string `json:"versions,omitempty"`
	Unprotected []string          `json:"unprotected,omitempty"`

	Passed     bool           `json:"passed"`
	Terms      int            `json:"terms"`
	Writes     int            `json:"writes"`
	Refused    int            `json:"refused"`
	Faults     int            `json:"faults"`
	FaultKinds map[string]int `json:"fault_kinds"`
	// LedPercent is for how much of the time somebody led.
	LedPercent float64 `json:"led_percent"`
	Recoveries int     `json:"recoveries"`
	// SlowestRecovery is in seconds.
	SlowestRecovery float64 `json:"slowest_recovery"`
	Rules           []Rule  `json:"rules"`
}

// Rule is what became of a rule.
type Rule struct {
	ID       string        `json:"id"`
	Text     string        `json:"text"`
	Verdict  check.Verdict `json:"verdict"`
	Note     string        `json:"note,omitempty"`
	Findings int           `json:"findings,omitempty"`
	// Excused counts the findings that the grade allows.
	Excused int `json:"excused,omitempty"`
	// Examples are the first findings.
	Examples []string `json:"examples,omitempty"`
}

// examples is how many findings of a rule a summary keeps.
const examples = 3

// Summarize takes from a result what is worth keeping.
func Summarize(result *check.Result) *Summary {
	run := result.Run
	s := &Summary{
		Store: run.Store, Server: run.Server, Grade: run.Grade, Reasons: run.Reasons, Began: run.Began,
		Seconds: run.Length().Seconds(), Seed: run.Seed, Command: run.Command, Candidates: run.Candidates,
		TTL: run.TTL.String(), Machine: run.Machine, Versions: run.Versions, Unprotected: run.Unprotected,
		Passed: result.Passed, Terms: run.TrustedTerms(), Writes: run.Done(history.Write, history.OK),
		Refused: run.Done("", history.Refused), Faults: run.Struck(), FaultKinds: map[string]int{},
	}
	for _, f := range run.Faults {
		if f.Struck() {
			s.FaultKinds[f.Kind]++
		}
	}
	var led time.Duration
	for _, span := range run.Led() {
		led += span.Length()
	}
	if run.Length() > 0 {
		s.LedPercent = 100 * led.Seconds() / run.Length().Seconds()
	}
	for _, v := range run.Recoveries() {
		if v.Led != 0 {
			s.Recoveries++
			s.SlowestRecovery = max(s.SlowestRecovery, v.Led.Sub(v.At).Seconds())
		}
	}
	for _, row := range result.Rows {
		s.Rules = append(s.Rules, ruleOf(row))
	}
	return s
}

func ruleOf(row check.Row) Rule {
	r := Rule{ID: row.ID, Text: row.Text, Verdict: row.Verdict, Note: row.Note, Findings: len(row.Findings)}
	for i, f := range row.Findings {
		if f.Excused {
			r.Excused++
		}
		if i < examples {
			r.Examples = append(r.Examples, f.Text)
		}
	}
	return r
}

// rule returns what became of one, the zero Rule if it is not there.
func (s *Summary) rule(id string) Rule {
	if i := slices.IndexFunc(s.Rules, func(r Rule) bool { return r.ID == id }); i >= 0 {
		return s.Rules[i]
	}
	return Rule{}
}

// FileName is the name under which a summary is kept: that of the store, so that a later run takes the place of an
// earlier one.
func (s *Summary) FileName() string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return ' '
	}, strings.ToLower(s.Store))
	return strings.Join(strings.Fields(name), "-") + ".json"
}

// Save writes the summary into a directory.
func (s *Summary) Save(dir string) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, s.FileName()), append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("report: keeping the summary: %w", err)
	}
	return nil
}

// Load reads the summaries that a directory keeps, in the order of their names. None is no error.
func Load(dir string) ([]*Summary, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	var out []*Summary
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("report: %w", err)
		}
		s := &Summary{}
		if err := json.Unmarshal(text, s); err != nil {
			return nil, fmt.Errorf("report: %s: %w", name, err)
		}
		if s.FileName() != filepath.Base(name) {
			return nil, fmt.Errorf("report: %s is the summary of a run on %q, which belongs into %s",
				name, s.Store, s.FileName())
		}
		out = append(out, s)
	}
	return out, nil
}

// Names of what Write leaves in a directory.
const (
	PageName     = "report.html"
	MarkdownName = "report.md"
)

// Write writes the page and the Markdown of a run into a directory.
func Write(dir string, result *check.Result) error {
	var page, text bytes.Buffer
	err := errors.Join(WritePage(&page, result), Summarize(result).WriteMarkdown(&text))
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, PageName), page.Bytes(), 0o644),
		os.WriteFile(filepath.Join(dir, MarkdownName), text.Bytes(), 0o644))
}
