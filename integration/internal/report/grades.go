package report

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/tenure-go/tenure"
)

// The part of a document that is made from the results stands between these lines.
const (
	begin = "<!-- What follows is written by `make chaos-docs`; do not edit it. -->\n"
	end   = "<!-- What `make chaos-docs` writes ends here. -->\n"
)

// Grades returns the table of what runs have shown of each store, the strongest grade first.
func Grades(summaries []*Summary) string {
	summaries = slices.DeleteFunc(slices.Clone(summaries), func(s *Summary) bool { return len(s.Unprotected) > 0 })
	slices.SortStableFunc(summaries, func(a, b *Summary) int { return rank(b.Grade) - rank(a.Grade) })
	var b strings.Builder
	b.WriteString("| Store as it ran | Grade | Ran for | Faults | Terms | Somebody led | Two leaders at once | " +
		"Tokens that fell | Verdict |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, s := range summaries {
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %d | %.0f %% | %s | %s | %s |\n", cell(s.Store), s.Grade,
			minutes(s.Seconds), s.Faults, s.Terms, s.LedPercent, s.rule("one-leader").times(),
			s.rule("rising-tokens").times(), s.verdict())
	}
	return b.String()
}

// rank is the grade as a number, the higher the stronger.
func rank(grade string) int {
	for g := tenure.GradeExclusive; g > tenure.GradeUnknown; g-- {
		if g.String() == grade {
			return int(g)
		}
	}
	return int(tenure.GradeUnknown)
}

// times is how often a rule was broken, and whether that was to be expected.
func (r Rule) times() string {
	switch {
	case r.Findings == 0:
		return "never"
	case r.Excused == r.Findings:
		return fmt.Sprintf("%d, as the grade says", r.Findings)
	}
	return fmt.Sprintf("%d, **%d of them against the grade**", r.Findings, r.Findings-r.Excused)
}

func (s *Summary) verdict() string {
	verdict := strings.TrimPrefix(s.title(), s.Store+": ")
	if !s.Passed {
		return "**" + verdict + "**"
	}
	return verdict
}

// WriteDocument puts the table into a file, in the place of an earlier one.
func WriteDocument(path, results string) error {
	old, now, err := document(path, results)
	if err != nil || bytes.Equal(old, now) {
		return err
	}
	return os.WriteFile(path, now, 0o644)
}

// CheckDocument returns an error if the table in a file is not that of the results.
func CheckDocument(path, results string) error {
	old, now, err := document(path, results)
	if err == nil && !bytes.Equal(old, now) {
		err = fmt.Errorf("report: %s does not show the results in %s; run make chaos-docs", path, results)
	}
	return err
}

// document returns a file as it is and as the results want it.
func document(path, results string) (old, now []byte, err error) {
	summaries, err := Load(results)
	if err != nil {
		return nil, nil, err
	}
	if len(summaries) == 0 {
		return nil, nil, fmt.Errorf("report: there are no results in %s", results)
	}
	if old, err = os.ReadFile(path); err != nil {
		return nil, nil, err
	}
	now, err = replace(old, []byte(Grades(summaries)))
	return old, now, err
}

// replace puts text in the place of what was written before.
func replace(document, text []byte) ([]byte, error) {
	before, rest, found := bytes.Cut(document, []byte(begin))
	_, after, closed := bytes.Cut(rest, []byte(end))
	if !found || !closed {
		return nil, errors.New("report: the document has no lines that say what may be replaced")
	}
	return bytes.Join([][]byte{before, []byte(begin), []byte("\n"), text, []byte("\n"), []byte(end), after}, nil), nil
}
