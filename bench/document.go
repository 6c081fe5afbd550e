package bench

import (
	"bytes"
	"errors"
	"os"
)

// The part of a document that a run replaces stands between these lines.
const (
	begin = "<!-- What follows is written by `make bench`; do not edit it. -->\n"
	end   = "<!-- What `make bench` writes ends here. -->\n"
)

// Replace puts text in the place of what an earlier run wrote into a document.
func Replace(document, text []byte) ([]byte, error) {
	before, rest, found := bytes.Cut(document, []byte(begin))
	_, after, closed := bytes.Cut(rest, []byte(end))
	if !found || !closed {
		return nil, errors.New("the document has no lines that say what may be replaced")
	}
	return bytes.Join([][]byte{before, []byte(begin), []byte("\n"), text, []byte(end), after}, nil), nil
}

// WriteDocument puts the report's tables into a file, in the place of those of an earlier run.
func (r *Report) WriteDocument(path string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var tables bytes.Buffer
	r.WriteMarkdown(&tables)
	text, err := Replace(old, tables.Bytes())
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
