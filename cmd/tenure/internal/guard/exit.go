package guard

import (
	"fmt"
	"syscall"
)

// Cause says why a group ended.
type Cause string

const (
	// CauseExit: the command exited by itself.
	CauseExit Cause = "exited"
	// CauseDeadline: a deadline passed.
	CauseDeadline Cause = "deadline passed"
	// CauseAsked: Terminate or Kill was called, or the context of Start ended.
	CauseAsked Cause = "asked to end"
	// CauseAbandoned: the supervisor went away.
	CauseAbandoned Cause = "supervisor gone"
	// CauseLost: the guard process died.
	CauseLost Cause = "guard gone"
)

// Exit is how a command ended.
type Exit struct {
	// Code is the status that the command exited with, -1 if a signal ended it or nothing is known.
	Code int
	// Signal is the signal that ended it, 0 if it exited.
	Signal syscall.Signal
	// Cause is why the group ended: what came first.
	Cause Cause
}

// Status returns the exit status as shells report it: the code, or 128 and the signal's number.
func (e Exit) Status() int {
	if e.Signal != 0 {
		return 128 + int(e.Signal)
	}
	return e.Code
}

func (e Exit) String() string {
	if e.Signal != 0 {
		return fmt.Sprintf("ended by signal %d (%v)", int(e.Signal), e.Signal)
	}
	return fmt.Sprintf("exited with status %d", e.Code)
}
