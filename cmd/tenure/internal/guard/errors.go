package guard

import (
	"errors"
	"fmt"
)

var (
	// ErrOverdue: the deadline passed before the command was known to run. Nothing of it is left.
	ErrOverdue = errors.New("guard: the deadline passed before the command was started")
	// ErrEnding: the group is being ended, or has ended. Extending comes too late: a deadline that passed is final.
	ErrEnding = errors.New("guard: the command is being ended")
	// ErrStalled: the guard does not take messages, as when it is frozen. It enforces the last deadlines it got.
	ErrStalled = errors.New("guard: the guard process does not respond")
	// ErrLost: the guard process died before the command's group did. The group was killed without it.
	ErrLost = errors.New("guard: the guard process died")
)

// Exit codes of shells for commands that could not be started.
const (
	// CodeNotExecutable: the command was found but cannot be executed.
	CodeNotExecutable = 126
	// CodeNotFound: there is no such command.
	CodeNotFound = 127
)

// CommandError says that the command could not be started.
type CommandError struct {
	// Command is the name as it was given.
	Command string
	// Code is CodeNotFound or CodeNotExecutable.
	Code int
	// Reason is what the system said.
	Reason string
}

func (e *CommandError) Error() string {
	return fmt.Sprintf("guard: the command %q cannot be started: %s", e.Command, e.Reason)
}
