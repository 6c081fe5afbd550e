package bench

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// marks are the lines between which stands the part of a document that a command replaces.
func marks(command string) (begin, end string) {
	return "<!-- What follows is written by `" + command + "`; do not edit it. -->\n",
		"<!-- What `" + command + "` writes ends here. -->\n"
}

// Replace puts text in the place of what an earlier run of the command, such as "make bench", wrote into a document.
func Replace(document []byte, command string, text []byte) ([]byte, error) {
	begin, end := marks(command)
	before, rest, found := bytes.Cut(document, []byte(begin))
	_, after, closed := bytes.Cut(rest, []byte(end))
	if !found || !closed {
		return nil, fmt.Errorf("the document has no lines that say what %s may replace", command)
	}
	return bytes.Join([][]byte{before, []byte(begin), []byte("\n"), text, []byte(end), after}, nil), nil
}

// WriteDocument puts the report's tables into a file, in the place of those of an earlier run.
func (r *Report) WriteDocument(path string) error {
	return WriteDocument(path, "make bench", r.WriteMarkdown)
}

// WriteDocument puts what write writes into a file, in the place of what an earlier run of the command wrote there.
func WriteDocument(path, command string, write func(io.Writer)) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var tables bytes.Buffer
	write(&tables)
	text, err := Replace(old, command, tables.Bytes())
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
