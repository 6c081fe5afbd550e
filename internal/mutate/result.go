package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"
)

// verdict is what became of a mutant.
type verdict string

const (
	killed     verdict = "killed"
	survived   verdict = "survived"
	notCovered verdict = "not covered" // survived, as no judge executes what it changes
	noCompile  verdict = "does not compile"
)

// result is what is known of one mutant, and one line of the file of results.
type result struct {
	Name    string        `json:"name"`
	Verdict verdict       `json:"verdict"`
	Judge   string        `json:"judge,omitempty"`   // that killed it
	ByTime  bool          `json:"by_time,omitempty"` // because it took too long
	Said    string        `json:"said,omitempty"`    // what the judge or the compiler printed first
	Took    time.Duration `json:"took"`
	Code    string        `json:"code"` // of which it is true; see fingerprint
}

// alive reports whether nothing has noticed the mutant.
func (r result) alive() bool { return r.Verdict == survived || r.Verdict == notCovered }

func (r result) String() string {
	text := string(r.Verdict)
	if r.Judge != "" {
		text += " by " + r.Judge
	}
	if r.ByTime {
		text += ", which took too long"
	}
	return fmt.Sprintf("%s: %s (%v)", r.Name, text, r.Took.Round(10*time.Millisecond))
}

// resume reads the results of an earlier run. Those of other code are left aside; a line that was being written when
// the run ended is none.
func resume(name, code string) (known map[string]result, aside int, err error) {
	known = map[string]result{}
	if name == "" {
		return known, 0, nil
	}
	text, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return known, 0, nil // the first run of a command that is repeated
	}
	for line := range bytes.Lines(text) {
		var r result
		if json.Unmarshal(line, &r) != nil {
			continue
		}
		if r.Code == code {
			known[r.Name] = r
		} else {
			aside++
		}
	}
	return known, aside, err
}

// record is a file of results; nil if none is kept.
type record struct{ file *os.File }

// keep begins a file of results with those that are known.
func keep(name string, known map[string]result) (*record, error) {
	if name == "" {
		return nil, nil //nolint:nilnil // no file is a file that keeps nothing
	}
	file, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	r := &record{file}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		err = errors.Join(err, r.add(known[name]))
	}
	return r, err
}

func (r *record) add(one result) error {
	if r == nil {
		return nil
	}
	line, err := json.Marshal(one)
	if err != nil {
		return err
	}
	_, err = r.file.Write(append(line, '\n'))
	return err
}

func (r *record) close() error {
	if r == nil {
		return nil
	}
	return r.file.Close()
}
