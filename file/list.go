package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// List implements [tenure.Lister]. If the name of an election cannot be read, since its file is damaged, List returns
// the other names together with the error.
func (s *Store) List(ctx context.Context) ([]string, error) {
	if s.closed.Load() {
		return nil, fmt.Errorf("file: listing: %w", errClosed)
	}
	type listed struct {
		names []string
		err   error
	}
	result, err := call(ctx, s.reads, func() listed {
		names, err := s.list()
		return listed{names, err}
	})
	if err == nil {
		err = result.err
	}
	if err != nil {
		err = fmt.Errorf("file: listing: %w", failed(err))
	}
	return result.names, err
}

func (s *Store) list() ([]string, error) {
	if _, err := s.state(); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(s.layout.elections())
	if err != nil {
		return nil, err
	}
	var names []string
	var damaged []error
	for _, entry := range entries {
		encoded, isRecord := strings.CutSuffix(entry.Name(), recordSuffix)
		if !isRecord || !isStem(encoded) {
			continue
		}
		name, err := s.nameOf(encoded)
		if err != nil {
			damaged = append(damaged, err)
			continue
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names, errors.Join(damaged...)
}

// isStem tells the names of record files from those of others: an editor's copy, a system's own file.
func isStem(encoded string) bool {
	if strings.Contains(encoded, cutMark) {
		return len(encoded) == stemLimit
	}
	_, ok := electionOf(encoded)
	return ok
}

// nameOf returns the election of a stem. Only a shortened one takes a look into the file.
func (s *Store) nameOf(encoded string) (string, error) {
	if name, ok := electionOf(encoded); ok {
		return name, nil
	}
	path := s.layout.record(encoded)
	text, err := readFile(path)
	if err != nil {
		return "", err
	}
	e, err := decodeEnvelope(text, encoded)
	if err != nil {
		return "", foreign(path, err)
	}
	return e.Election, nil
}
