package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tenure-go/tenure/integration/internal/check"
)

// title is the verdict in a few words.
func (s *Summary) title() string {
	broken, expected, undecided := 0, 0, 0
	for _, r := range s.Rules {
		switch r.Verdict {
		case check.Violated:
			broken++
		case check.Expected:
			expected++
		case check.Undecided:
			undecided++
		case check.Held:
		}
	}
	switch {
	case broken > 0:
		return fmt.Sprintf("%s: %s violated", s.Store, plural(broken, "rule"))
	case !s.Passed:
		return s.Store + ": undecided"
	case expected > 0:
		return s.Store + ": broke as its grade says, and no further"
	case undecided > 0:
		return s.Store + ": every rule held that could be judged"
	}
	return s.Store + ": every rule held"
}

func (s *Summary) facts() []string {
	facts := []string{
		plural(s.Candidates, "candidate"), "TTL " + s.TTL, minutes(s.Seconds), plural(s.Faults, "fault"),
		"graded " + s.Grade, fmt.Sprintf("seed %d", s.Seed), s.Began.UTC().Format("2 January 2006, 15:04 UTC"),
	}
	if s.Server != "" {
		facts = slices.Insert(facts, 0, s.Server)
	}
	for _, what := range s.Unprotected {
		facts = append(facts, "without "+what)
	}
	return facts
}

// WriteMarkdown writes the verdicts.
func (s *Summary) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n\n| Rule | Verdict | Found |\n|---|---|---|\n", s.title(), strings.Join(s.facts(), " · "))
	for _, r := range s.Rules {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(r.Text), r.Verdict, cell(r.Note))
	}
	for _, r := range s.Rules {
		if r.Findings == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s: %s\n\n", r.Text, r.Verdict)
		for _, text := range r.Examples {
			fmt.Fprintf(&b, "- %s\n", text)
		}
		if more := r.Findings - len(r.Examples); more > 0 {
			fmt.Fprintf(&b, "- and %d more\n", more)
		}
	}
	fmt.Fprintf(&b, "\nFaults: %s\n", s.kinds())
	fmt.Fprintf(&b, "\nTo repeat it:\n\n```sh\n%s\n```\n", s.Command)
	_, err := io.WriteString(w, b.String())
	return err
}

// kinds lists the faults with their numbers, the most frequent first.
func (s *Summary) kinds() string {
	kinds := slices.Sorted(maps.Keys(s.FaultKinds))
	slices.SortStableFunc(kinds, func(a, b string) int { return s.FaultKinds[b] - s.FaultKinds[a] })
	for i, kind := range kinds {
		kinds[i] = fmt.Sprintf("%s %d", kind, s.FaultKinds[kind])
	}
	return strings.Join(kinds, ", ")
}

// cell keeps a text within its cell.
func cell(text string) string { return strings.NewReplacer("|", `\|`, "\n", " ").Replace(text) }

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func minutes(seconds float64) string {
	if d := time.Duration(seconds * float64(time.Second)); d >= 2*time.Minute {
		return fmt.Sprintf("%.0f minutes", d.Minutes())
	}
	return fmt.Sprintf("%.3g s", seconds)
}
