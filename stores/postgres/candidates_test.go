package postgres

import (
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/fleet"
)

// patience bounds how long anything may take on a busy machine.
const patience = 60 * time.Second

// pair is two candidates, a and b. Whoever leads first is a.
type pair struct {
	*fleet.Fleet
	t     testing.TB
	stops map[string]func()
}

// stand lets two candidates stand, and returns them with the term of the first once the other one knows it.
func stand(t testing.TB, a, b tenure.Store, options ...tenure.Option) (*pair, tenure.Term) {
	t.Helper()
	p := &pair{Fleet: fleet.New(t), t: t, stops: map[string]func(){}}
	p.stops["a"] = p.Stand(a, "a", options...)
	first := p.Next()
	p.stops["b"] = p.Stand(b, "b", options...)
	p.Known(first)
	return p, first
}

// handsOver stops the leader of a term and checks that the other candidate takes over, and all terms that there were.
func (p *pair) handsOver(term tenure.Term) {
	p.t.Helper()
	p.stops[term.Leader]()
	if next := p.Await(term.Token); next.Leader == term.Leader {
		p.t.Errorf("%q leads again, stopped", next.Leader)
	}
	p.Check()
}
