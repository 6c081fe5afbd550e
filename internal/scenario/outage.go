package scenario

import (
	"context"
	"errors"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testserver"
)

// Outage is a time without a server.
type Outage struct{ Begin, End func() }

// Freeze has a server stand still.
func Freeze(p *testserver.Process) Outage { return Outage{p.Freeze, p.Thaw} }

// Kill has a server be gone at once.
func Kill(p *testserver.Process) Outage { return Outage{p.Kill, p.Start} }

// Stop has a server end in good order.
func Stop(p *testserver.Process) Outage { return Outage{p.Stop, p.Start} }

// Losses are all the ways in which a server is lost.
func Losses() map[string]func(*testserver.Process) Outage {
	return map[string]func(*testserver.Process) Outage{"frozen": Freeze, "killed": Kill, "stopped": Stop}
}

// Outages checks that a leader stops in time when its store is away for longer than the lease, that nobody leads
// meanwhile, and that afterwards somebody does without help, and is followed by another one.
func Outages(t TB, open Open, outages ...Outage) {
	t.Helper()
	f := three(t, open)
	defer f.Check()
	term := f.Await(0)
	for _, outage := range outages {
		f.Known(term)
		outage.Begin()
		f.Over(term)
		if cause := f.Cause(term); !errors.Is(cause, tenure.ErrLeaseExpired) {
			t.Errorf("the term of %s ended with %v, want that its lease expired", term.Leader, cause)
		}
		outage.End()
		term = f.Lasting(term.Token, 3)
	}
	f.HandsOver(term)
}

// MemberIsLost checks that somebody leads on over the other members of a cluster while one is lost, and when it is
// back. The observer reaches one of the others.
func MemberIsLost(t TB, open Open, observer tenure.Store, lost Outage) {
	t.Helper()
	f := three(t, open)
	defer f.Check()
	f.Next()
	before := storetest.Load(t, observer, fleet.Election).Version
	lost.Begin()
	before = written(t, observer, before, "somebody leads over the other members")
	lost.End()
	written(t, observer, before, "somebody leads on after the member is back")
}

// written waits until a leader has written something new, and returns its version.
func written(t TB, observer tenure.Store, before tenure.Version, what string) (now tenure.Version) {
	t.Helper()
	storetest.Eventually(t, what, func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		got, err := observer.Load(ctx, fleet.Election)
		now = got.Version
		return err == nil && now != before && !got.Record.Vacant()
	})
	return now
}
