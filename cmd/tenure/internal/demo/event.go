package demo

import (
	"fmt"
	"time"
)

// Event is something that was done to a node, or happened to it, and what followed.
type Event struct {
	// At is when, since the start of the demo.
	At time.Duration
	// What is a word or two: "kill -9".
	What string
	// Node is to whom, and Token the term that it led with, zero if it did not lead.
	Node  string
	Token uint64
	// Wanted is the node that a seat is transferred to.
	Wanted string
	// Outcome is what followed, for people: an arrow and a few words.
	Outcome string
	// Leader, NewToken and After say who led next, with which token and how long after; zero if nobody did.
	Leader   string
	NewToken uint64
	After    time.Duration
}

// sequel says who leads next.
func (e Event) sequel() string {
	switch e.Wanted {
	case "":
		return fmt.Sprintf("→ %s leads with token %d after %s", e.Leader, e.NewToken, span(e.After))
	case e.Leader:
		return fmt.Sprintf("→ %s as asked: token %d after %s", e.Leader, e.NewToken, span(e.After))
	}
	return fmt.Sprintf("→ %s (not %s), token %d, %s", e.Leader, e.Wanted, e.NewToken, span(e.After))
}

// subject is to whom an event happened, in columns.
func (e Event) subject() string {
	role := ""
	if e.Token != 0 {
		role = fmt.Sprintf("token %d", e.Token)
	}
	return fmt.Sprintf("%-7s %-8s  ", e.Node, role)
}

// seconds formats the time since the start.
func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// span formats a duration with two digits, more or less: that is what such a measurement is worth.
func span(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
