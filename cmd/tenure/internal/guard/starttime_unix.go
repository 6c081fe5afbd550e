//go:build unix

package guard

import (
	"errors"
	"fmt"
	"os/exec"
	"time"
)

// StartTime measures how long this program takes to start as a guard and to end, by a guard that gets no orders: the
// shortest of a few tries, since others may keep the processors busy. A command takes about as long to be started.
func StartTime() (time.Duration, error) {
	if !mainCalled {
		return 0, errNoMain
	}
	path, err := ownExecutable()
	if err != nil {
		return 0, fmt.Errorf("guard: find the own program: %w", err)
	}
	const tries = 3
	var shortest time.Duration
	for try := range tries {
		began := time.Now()
		err := exec.Command(path, argument).Run()
		if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
			return 0, fmt.Errorf("guard: start the guard process: %w", err)
		}
		if took := time.Since(began); try == 0 || took < shortest {
			shortest = took
		}
	}
	return shortest, nil
}
