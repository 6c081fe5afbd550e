package history

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// suffix is how the names of the files end.
const suffix = ".jsonl"

// ReadDir returns the events of all files of a directory in the order of their stamps.
func ReadDir(dir string) ([]Event, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("history: no file *%s in %s", suffix, dir)
	}
	var events []Event
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("history: %w", err)
		}
		some, err := Parse(text)
		if err != nil {
			return nil, fmt.Errorf("history: %s: %w", filepath.Base(name), err)
		}
		events = append(events, some...)
	}
	slices.SortStableFunc(events, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
	return events, nil
}

// Parse returns the events of one process. A last line without its end is what a kill leaves, and is passed over;
// anything else that is no event is an error.
func Parse(text []byte) ([]Event, error) {
	lines := bytes.Split(text, []byte("\n"))
	var events []Event
	for i, line := range lines[:len(lines)-1] {
		e, err := parseLine(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		events = append(events, e)
	}
	return events, sameWriter(events)
}

func parseLine(line []byte) (e Event, err error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return e, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return e, errors.New("something follows the event")
	}
	if n := e.bodies(); n != 1 {
		return e, fmt.Errorf("an event has one body, not %d", n)
	}
	if e.At <= 0 || e.Process == "" || e.Life <= 0 {
		return e, errors.New("an event has a time, a process and a life")
	}
	return e, nil
}

// sameWriter checks that the events are those of one life, in the order in which they were written.
func sameWriter(events []Event) error {
	for i := 1; i < len(events); i++ {
		switch before, e := events[i-1], events[i]; {
		case e.Process != before.Process || e.Life != before.Life:
			return fmt.Errorf("line %d: written by %s %d, the line before by %s %d",
				i+1, e.Process, e.Life, before.Process, before.Life)
		case e.At < before.At:
			return fmt.Errorf("line %d: earlier than the line before, by a clock that never goes back", i+1)
		}
	}
	return nil
}
