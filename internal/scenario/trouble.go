package scenario

import (
	"slices"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/testserver"
)

// lasting are the options of patient candidates of which nobody waits for the end of a lease: who follows has been told
// that the seat was given back, or polls because nobody tells it.
var lasting = slices.Concat(fleet.Patient, []tenure.Option{
	tenure.WithTTL(time.Hour),
	tenure.WithBackoff(tenure.Backoff{Initial: 50 * time.Millisecond, Max: time.Second, Factor: 2, Jitter: 0.5}),
})

// TermOutlives checks that the leader of three candidates goes on through each of some troubles, all of them shorter
// than its lease, and that the others, which have lived through them too, follow it when it resigns.
func TermOutlives(t TB, open Open, troubles ...func()) {
	t.Helper()
	f := three(t, open, lasting...)
	defer f.Check()
	term := f.Next()
	f.Known(term)
	for _, befall := range troubles {
		befall()
		f.Renewed(term, 10) // of which one may have been written before
	}
	f.HandsOver(term)
}

// Times is the same trouble so often.
func Times(n int, trouble func()) []func() { return slices.Repeat([]func(){trouble}, n) }

// Pause has a server stand still for a while.
func Pause(p *testserver.Process) func() {
	return func() {
		p.Freeze()
		time.Sleep(time.Second) // many renewals are due
		p.Thaw()
	}
}

// Crash kills a server and starts it again.
func Crash(p *testserver.Process) func() {
	return func() {
		p.Kill()
		p.Start()
	}
}
