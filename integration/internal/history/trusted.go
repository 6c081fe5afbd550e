package history

import (
	"sync"
	"time"
)

// FlushEvery is how much of a trusted span a process that is killed may leave unwritten.
const FlushEvery = 50 * time.Millisecond

// Trusted writes down through which spans a process was certainly trusted. Its methods are safe for concurrent use.
type Trusted struct {
	writer *Writer

	mu      sync.Mutex
	open    Trust   // what has not been written yet
	written Instant // up to where the open span's term has been
}

// NewTrusted returns what writes spans with w.
func NewTrusted(w *Writer) *Trusted { return &Trusted{writer: w} }

// Ask asks once whether the process is trusted with the term of that token and session, and returns the answer. Ask
// often, every millisecond or so, with a question whose yes, once it was refused for a term, does not return. It
// returns an error if the history could not be written.
func (t *Trusted) Ask(token uint64, session string, leads func() bool) (bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := Now()
	if !leads() {
		return false, t.end()
	}
	after := Now()
	if t.open.Token != token || t.open.Session != session {
		if err := t.end(); err != nil {
			return true, err
		}
		// A span begins with what is known after the first yes, and is none until there was a second.
		t.open, t.written = Trust{Token: token, Session: session}, after
		return true, nil
	}
	t.open.To = before
	if before.Sub(t.written) < FlushEvery {
		return true, nil
	}
	return true, t.flush()
}

// Flush writes down what is known and has not been written.
func (t *Trusted) Flush() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.flush()
}

// end flushes, and lets whatever comes next be a span of its own, that of the same term too.
func (t *Trusted) end() error {
	err := t.flush()
	t.open, t.written = Trust{}, 0
	return err
}

func (t *Trusted) flush() error {
	if t.open.To <= t.written {
		return nil
	}
	span := t.open
	span.From, t.written = t.written, span.To
	return t.writer.Write(Event{Trust: &span})
}
