//go:build linux

package nemesis

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/tenure-go/tenure/integration/internal/history"
)

// Fault is a kind of thing that goes wrong.
type Fault interface {
	// Name is how flags and reports call it.
	Name() string
	// Unfit says why it cannot be brought about on a scene, nothing if it can.
	Unfit(s *Scene) string
	// Plan draws whom it befalls and how, but none of those that are taken already. It returns nil if there is nobody at
	// present.
	Plan(s *Scene, r *rand.Rand, taken []string) *Attack
}

// Attack is one fault of a kind, drawn and not begun.
type Attack struct {
	// Fault is what the history is told, but for Kind and Number.
	history.Fault

	// Hold is how long it lasts.
	Hold time.Duration
	// Moment tells that it is over once it has begun, and only its consequences last.
	Moment bool
	// Begin brings it about, and returns when it is in force.
	Begin func() error
	// End undoes it, and tells what was seen of it.
	End func() (effect string, err error)
}

// All returns all kinds.
func All() []Fault {
	return []Fault{
		kill{},
		killAll{},
		stopShort{},
		stopLong{},
		freeze{},
		starve{},
		moveClock{},
		partition{},
		deaf{},
		halfOpen{},
		refuse{},
		lag{},
		drop{},
		unplug{},
		freezeServer{},
		killServer{},
		restartServer{},
		changeLeader{},
		revoke{},
		exhaustPool{},
		hangDisk{},
		wipe{},
	}
}

// Find returns the kinds of these names, all of them if there are none.
func Find(names []string) ([]Fault, error) {
	if len(names) == 0 {
		return All(), nil
	}
	var found []Fault
	for _, name := range names {
		f := find(name)
		if f == nil {
			return nil, fmt.Errorf("there is no fault %q; there are %s", name, strings.Join(Names(All()), ", "))
		}
		found = append(found, f)
	}
	return found, nil
}

func find(name string) Fault {
	for _, f := range All() {
		if f.Name() == name {
			return f
		}
	}
	return nil
}

// Names returns the names of kinds.
func Names(faults []Fault) (names []string) {
	for _, f := range faults {
		names = append(names, f.Name())
	}
	return names
}

// between draws a duration.
func between(r *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(r.Float64()*float64(to-from))
}

// shortOrLong draws a time that a lease outlasts, or one that it does not.
func shortOrLong(r *rand.Rand, ttl time.Duration) time.Duration {
	short, long := between(r, ttl/10, ttl/2), between(r, ttl*5/4, ttl*9/4)
	if r.IntN(3) == 0 {
		return short
	}
	return long
}
