package check

import (
	"fmt"

	"github.com/tenure-go/tenure/integration/internal/history"
)

// Life is a process from one start to its end.
type Life struct {
	Process string
	Number  int
	// The life goes from its first event to its last.
	Span
	Start *history.Start
	// Exit is nil if the process was killed.
	Exit    *history.Exit
	Terms   []*Term
	Samples []Sample
	Counts  []Count

	events []history.Instant
}

// Sample is what a process held at a quiet moment.
type Sample struct {
	At history.Instant
	history.Resources
}

// Count is what a process had sent to the store.
type Count struct {
	At history.Instant
	history.Requests
}

// Sent is the number of requests of all kinds.
func (c Count) Sent() uint64 { return c.Loads + c.Swaps + c.Watches }

// supervised reports whether it is that of a command, which a supervisor starts and ends.
func (l *Life) supervised() bool { return l.Start != nil && l.Start.Kind == Command }

// String names the life.
func (l *Life) String() string { return fmt.Sprintf("%s (life %d)", l.Process, l.Number) }

type lifeID struct {
	process string
	number  int
}

// life returns the life that an event belongs to, and makes it last until then.
func (b *builder) life(e history.Event) *Life {
	id := lifeID{e.Process, e.Life}
	l := b.lives[id]
	if l == nil {
		l = &Life{Process: e.Process, Number: e.Life, Span: Span{e.At, e.At}}
		b.lives[id], b.run.Lives = l, append(b.run.Lives, l)
	}
	if l.Exit != nil {
		b.problem(e, "went on after its exit")
	}
	l.To = e.At
	l.events = append(l.events, e.At)
	return l
}
