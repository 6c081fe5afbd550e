package check

import (
	"fmt"

	"github.com/tenure-go/tenure/integration/internal/history"
)

// Term is one leadership as the process that had it knew it.
type Term struct {
	Life *Life
	// Before is the same leadership as an earlier command of the same supervisor knew it, nil if this was the first.
	Before  *Term
	Session string
	Token   uint64
	// Spans are those through which it was certainly trusted: one, if all is well, and none if it was too short.
	Spans []Span
	// Elected and Ended are when the process wrote down that it was told so, zero if it did not.
	Elected, Ended history.Instant
	Cause, Reason  string
}

// Whole is from the beginning of the trust until its end; without trust, when the term was spoken of.
func (t *Term) Whole() Span {
	switch {
	case len(t.Spans) > 0:
		return Span{t.Spans[0].From, t.Spans[len(t.Spans)-1].To}
	case t.Elected != 0:
		return Span{t.Elected, max(t.Elected, t.Ended)}
	}
	return Span{t.Ended, t.Ended}
}

// String names the term.
func (t *Term) String() string {
	if t.Life.Number > 1 {
		return fmt.Sprintf("%v with token %d", t.Life, t.Token)
	}
	return fmt.Sprintf("%s with token %d", t.Life.Process, t.Token)
}

// sameSession reports whether two terms are of one session, which cannot be in two minds.
func (t *Term) sameSession(o *Term) bool { return t.Life == o.Life && t.Session == o.Session }

// continues reports whether t, which has o's token, is of a command that was started again within the term: by the same
// supervisor, whose session both have, and after the command of o had written its last. Two at once are two leaders.
func (t *Term) continues(o *Term) bool {
	return t.Session == o.Session && t.Life.Process == o.Life.Process &&
		t.Life.supervised() && o.Life.supervised() && o.Life.To < t.Life.From
}

// resumes reports whether the leadership was trusted before, under an earlier command.
func (t *Term) resumes() bool {
	return t.Before != nil && (len(t.Before.Spans) > 0 || t.Before.resumes())
}

// join finds out which terms, in the order in which they began, continue another one.
func join(terms []*Term) {
	last := map[uint64]*Term{}
	for _, t := range terms {
		switch before := last[t.Token]; {
		case before == nil:
			last[t.Token] = t
		case t.continues(before):
			t.Before, last[t.Token] = before, t
		}
	}
}

// trust adds a piece of trust, which goes on where the last one ended unless there was a no between.
func (t *Term) trust(s Span) {
	if last := len(t.Spans) - 1; last >= 0 && t.Spans[last].To == s.From {
		t.Spans[last].To = s.To
		return
	}
	t.Spans = append(t.Spans, s)
}

type termID struct {
	life    lifeID
	session string
	token   uint64
}

func (b *builder) term(l *Life, token uint64, session string) *Term {
	id := termID{lifeID{l.Process, l.Number}, session, token}
	t := b.terms[id]
	if t == nil {
		t = &Term{Life: l, Session: session, Token: token}
		b.terms[id], l.Terms, b.run.Terms = t, append(l.Terms, t), append(b.run.Terms, t)
	}
	return t
}
