package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// Writer appends the events of one life of one process. Its methods are safe for concurrent use.
type Writer struct {
	process string
	life    int

	mu   sync.Mutex
	file *os.File
	err  error // the first failure, after which nothing more is written
}

// Create begins the history of a life in a directory. It fails if that life has been written down already.
func Create(dir, process string, life int) (*Writer, error) {
	name := filepath.Join(dir, fmt.Sprintf("%s.%d%s", process, life, suffix))
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, fmt.Errorf("history: beginning the history of %s: %w", process, err)
	}
	return &Writer{process: process, life: life, file: file}, nil
}

// Write stamps an event, which needs a body alone, and appends it. After a failure it returns that failure for good: a
// history with a hole would be believed.
func (w *Writer) Write(e Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = w.append(e)
	}
	return w.err
}

func (w *Writer) append(e Event) error {
	if n := e.bodies(); n != 1 {
		return fmt.Errorf("history: an event has one body, not %d", n)
	}
	e.At, e.Process, e.Life = Now(), w.process, w.life
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("history: %w", err)
	}
	// One call for the line and its end, so that a kill leaves either both or a line without its end.
	if _, err := w.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("history: %w", err)
	}
	return nil
}

// Err returns why nothing is written any more, nil if all has been.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Close ends the history. It returns the first failure of all writes.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := errors.Join(w.err, w.file.Close())
	if w.err == nil {
		w.err = errors.New("history: closed")
	}
	return err
}
