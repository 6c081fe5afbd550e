//go:build linux

package chaos

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tenure-go/tenure/integration/internal/beds"
	"github.com/tenure-go/tenure/integration/internal/nemesis"
)

// Options say what a run is.
type Options struct {
	Bed  beds.Bed
	Seed uint64
	// For is how long faults are brought about; starting, the last recovery and stopping come on top.
	For        time.Duration
	Candidates int
	TTL        time.Duration
	Faults     []nemesis.Fault
	// Unsafe is the protection that is switched off, empty for none.
	Unsafe string
	// Dir is where histories, logs and reports go.
	Dir string
	// Tenure is the program tenure; without one it is built.
	Tenure string
	// LibraryOnly leaves tenure run out.
	LibraryOnly bool
	// Log is told what happens.
	Log io.Writer
	// Command is how to make this run again.
	Command string
}

// Protections that belong to the run, and not to its candidates.
const (
	// FenceOff: the registers refuse nobody, and candidates act without asking.
	FenceOff = "fence-off"
	// ForgetfulStore: the store is wiped while everybody is dead.
	ForgetfulStore = "forgetful-store"
)

// ProtectionNames returns the names of all that can be switched off.
func ProtectionNames() (names []string) {
	for _, p := range Plants() {
		names = append(names, p.Protection)
	}
	return names
}

// Bounds of options.
const (
	minFor        = 5 * time.Second
	minTTL        = time.Second
	maxCandidates = 50
)

// Check returns an error that says which option is wrong.
func (o *Options) Check() error {
	switch {
	case o.For < minFor:
		return fmt.Errorf("a run lasts %v at least, not %v", minFor, o.For)
	case o.TTL < minTTL || o.TTL%time.Second != 0:
		return fmt.Errorf("the TTL is a whole number of seconds, %v at least, since some stores keep no other, not %v",
			minTTL, o.TTL)
	case o.Candidates < 2 || o.Candidates > maxCandidates:
		return fmt.Errorf("there are 2 to %d candidates, not %d", maxCandidates, o.Candidates)
	case o.Unsafe != "" && !slices.Contains(ProtectionNames(), o.Unsafe):
		return fmt.Errorf("there is no protection %q; there are %s", o.Unsafe, strings.Join(ProtectionNames(), ", "))
	case o.Unsafe == ForgetfulStore && o.Bed.Name != "file":
		return errors.New("only the store file can be made forgetful")
	case len(o.Faults) == 0:
		return errors.New("there are no faults")
	}
	return nil
}
