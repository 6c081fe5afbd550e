package demo

import (
	"fmt"
	"io"
	"time"

	"github.com/tenure-go/tenure/cmd/tenure/internal/guard"
)

// Display shows a demo as it goes. Its methods are called by one goroutine.
type Display interface {
	// Begin is called first.
	Begin(Options)
	// Event is called with what happened, once it is known what followed.
	Event(Event)
	// Frame is called ten times a second, and drawn over the last one.
	Frame(View)
	// End is called when the processes are gone, before the summary.
	End()
	// Summary is called last, unless the demo could not begin.
	Summary(Summary)
}

// View is a demo at one moment.
type View struct {
	Elapsed, For, TTL time.Duration
	Terms, Findings   int
	Nodes             []NodeView
	// Doing is what was done just now, until it is known what followed; nil if nothing is under way.
	Doing *Event
}

// NodeView is a node at one moment.
type NodeView struct {
	ID, State string
	PID       int
	Token     uint64
	// Trust is what is left of it; negative since when it is over while a leader is frozen.
	Trust time.Duration
	// Restart is in how long a dead node starts again.
	Restart time.Duration
}

func (s *stage) view() View {
	now := guard.Now()
	v := View{
		Elapsed: now.Sub(s.began), For: s.For, TTL: s.TTL, Terms: len(s.terms),
		Findings: Check(s.spans()).count(), Doing: s.pending,
	}
	for _, m := range s.members {
		n := NodeView{ID: m.id, State: m.state()}
		if m.process != nil {
			n.PID = m.process.pid()
		} else if m.restartAt != 0 {
			n.Restart = max(0, m.restartAt.Sub(now))
		}
		if m.term != nil {
			n.Token = m.term.Token
		}
		if m.until != 0 {
			n.Trust = m.until.Sub(now)
		}
		v.Nodes = append(v.Nodes, n)
	}
	return v
}

// Lines shows a demo as plain lines, one for each event.
type Lines struct{ Out io.Writer }

// Begin implements [Display].
func (l Lines) Begin(o Options) { fmt.Fprintln(l.Out, headline(o)) }

// Event implements [Display].
func (l Lines) Event(e Event) { fmt.Fprintln(l.Out, eventLine(e).plain()) }

// Frame implements [Display].
func (l Lines) Frame(View) {}

// End implements [Display].
func (l Lines) End() {}

// Summary implements [Display].
func (l Lines) Summary(s Summary) { writePlain(l.Out, summaryLines(s)) }

// Quiet shows nothing but the summary.
type Quiet struct{ Lines }

// Begin implements [Display].
func (Quiet) Begin(Options) {}

// Event implements [Display].
func (Quiet) Event(Event) {}
