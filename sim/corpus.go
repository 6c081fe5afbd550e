package sim

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Case is a line of a corpus: a history that once broke a rule.
type Case struct {
	Line int // in the corpus
	Kind Kind
	Seed uint64
	Rule Rule   // which it broke
	What string // what was wrong
}

// String tells which history it is and why it is played.
func (c Case) String() string {
	return fmt.Sprintf("line %d: %v %d, which once broke %v: %s", c.Line, c.Kind, c.Seed, c.Rule, c.What)
}

// Replay is the command that plays the history of that kind and seed again, step by step.
func Replay(kind Kind, seed uint64) string {
	return fmt.Sprintf("go run ./sim/cmd/tenure-sim -kind %v -seed %d -trace", kind, seed)
}

// ReadCorpus reads the histories that once broke a rule, one a line: kind, seed, rule, and what was wrong. Empty lines
// and those that begin with # say nothing.
func ReadCorpus(from io.Reader) ([]Case, error) {
	var list []Case
	first := map[[2]uint64]int{} // the line of each kind and seed
	lines := bufio.NewScanner(from)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		c, err := parseCase(text)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		c.Line = n
		key := [2]uint64{uint64(c.Kind), c.Seed}
		if other := first[key]; other > 0 {
			return nil, fmt.Errorf("line %d: %v %d stands in line %d already", n, c.Kind, c.Seed, other)
		}
		first[key] = n
		list = append(list, c)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(list) == 0 {
		// A file that was cut off must not pass for one whose histories all keep the rules.
		return nil, fmt.Errorf("there is no history in it")
	}
	return list, nil
}

func parseCase(text string) (c Case, err error) {
	fields := strings.Fields(text)
	if len(fields) < 4 {
		return c, fmt.Errorf("%q is not of the form: kind seed rule what it was", text)
	}
	if c.Kind, err = ParseKind(fields[0]); err != nil {
		return c, err
	}
	if c.Seed, err = strconv.ParseUint(fields[1], 10, 64); err != nil {
		return c, fmt.Errorf("%q is not a seed: a whole number below 2^64", fields[1])
	}
	if c.Rule, err = ParseRule(fields[2]); err != nil {
		return c, err
	}
	c.What = strings.Join(fields[3:], " ")
	return c, nil
}
