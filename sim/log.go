package sim

import (
	"fmt"
	"time"

	"github.com/tenure-go/tenure/internal/protocol"
)

// Log is a history for people to read: a line per event, and intervals for the timeline.
type Log struct {
	Lines     []Line
	intervals []interval
	open      []interval
}

// Line is one event of a Log.
type Line struct {
	At   time.Duration
	Node int // -1: the store, an operator, or the world
	What string
	Text string
}

// String returns the line as a trace prints it.
func (l Line) String() string {
	who := "-"
	if l.Node >= 0 {
		who = fmt.Sprint(l.Node)
	}
	return fmt.Sprintf("%14v %s %-10s %s", l.At, who, l.What, l.Text)
}

// lane is what a bar of the timeline shows.
type lane uint8

const (
	laneTrust lane = iota
	laneWork
	laneCall
	lanePause
	laneLink
	laneDown
	laneStore
	laneRecord
	lanePhase
	numLanes
)

// laneClasses are the names of lanes in the timeline's style sheet.
var laneClasses = [numLanes]string{"trust", "work", "call", "pause", "link", "down", "store", "record", "phase"}

// interval is a bar of the timeline.
type interval struct {
	node     int
	lane     lane
	value    uint64 // the term, or what kind of fault
	from, to time.Duration
	text     string
}

// title tells what the bar shows.
func (i *interval) title() string {
	switch i.lane {
	case laneTrust:
		return fmt.Sprintf("trusted in term %d", i.value)
	case laneWork:
		return fmt.Sprintf("work of term %d", i.value)
	case lanePause:
		return pauseNames[i.value]
	case laneLink:
		return Fault(i.value).String()
	}
	return i.text
}

// bar adds an interval that is known from its begin.
func (l *Log) bar(i interval) {
	if l != nil {
		l.intervals = append(l.intervals, i)
	}
}

// begin opens a bar; a node has one of each lane at a time.
func (l *Log) begin(node int8, in lane, value uint64, at time.Duration, text string) {
	if l != nil {
		l.end(node, in, at)
		l.open = append(l.open, interval{node: int(node), lane: in, value: value, from: at, text: text})
	}
}

// end closes a bar, if there is one.
func (l *Log) end(node int8, in lane, at time.Duration) {
	if l == nil {
		return
	}
	for k := range l.open {
		if i := l.open[k]; i.node == int(node) && i.lane == in {
			i.to = at
			l.intervals = append(l.intervals, i)
			l.open = append(l.open[:k], l.open[k+1:]...)
			return
		}
	}
}

func (l *Log) closeAll(at time.Duration) {
	for len(l.open) > 0 {
		l.end(int8(l.open[0].node), l.open[0].lane, at)
	}
}

// logf adds a line if the history is recorded.
func (w *World) logf(node int, what, format string, args ...any) {
	if w.log != nil {
		w.log.Lines = append(w.log.Lines, Line{w.now, node, what, fmt.Sprintf(format, args...)})
	}
}

func (w *World) logStep(n *node, l *letter, before protocol.State) {
	if w.log == nil {
		return
	}
	text := fmt.Sprintf("%v -> %v", before, n.m.State())
	if l.kind == protocol.Loaded || l.kind == protocol.Wrote {
		text += fmt.Sprintf(", %v", l.outcome)
	}
	if l.state != nil && (l.kind == protocol.Pushed || l.outcome == protocol.OK) {
		text += ", " + describe(l.state)
	}
	w.logf(int(n.index), l.kind.String(), "%s", text)
}

func (w *World) logEffect(n *node, e *protocol.Effect) {
	if w.log == nil {
		return
	}
	text := ""
	switch e.Do {
	case protocol.Load:
		text = fmt.Sprintf("within %v", e.Timeout)
	case protocol.Write:
		text = fmt.Sprintf("%v of term %d, number %d, over %q within %v", e.Purpose, e.Record.Token, e.Record.Renewals,
			e.Base.Version, e.Timeout)
	case protocol.Ended:
		text = fmt.Sprintf("term %d: %s", e.Token, causeNames[e.Cause])
	case protocol.CallFailed:
		text = e.Outcome.String()
	default:
		if e.Token > 0 {
			text = fmt.Sprintf("term %d", e.Token)
		}
	}
	w.logf(int(n.index), "  "+e.Do.String(), "%s (%s)", text, e.Reason)
}

// describe tells a state of the record in a few words.
func describe(st *state) string {
	r := &st.record
	if !st.exists {
		return fmt.Sprintf("no record, floor %d", r.Token)
	}
	text := fmt.Sprintf("%s: term %d, number %d", st.version, r.Token, r.Renewals)
	switch {
	case !r.Vacant():
		text += fmt.Sprintf(", held by %s (%s) for %v", r.Leader, r.Session, r.TTL)
	case r.Reserved != "":
		text += ", kept for " + r.Reserved
	default:
		text += ", vacant"
	}
	if r.Request.Token > 0 {
		text += fmt.Sprintf(", request to term %d", r.Request.Token)
	}
	if r.Paused {
		text += ", paused"
	}
	return text
}
