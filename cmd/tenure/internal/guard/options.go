package guard

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"syscall"
)

// Options say what to run and for how long.
type Options struct {
	// Command is the program and its arguments. A name without a separator is looked up in the PATH of Env.
	Command []string
	// Env is the command's environment, nil for that of this process.
	Env []string
	// Dir is the command's working directory, empty for that of this process.
	Dir string
	// Stdin, Stdout and Stderr are passed on as they are, nil for the null device. The guard keeps them open as long
	// as anything of the command lives.
	Stdin, Stdout, Stderr *os.File
	// Signal asks the command to stop, SIGTERM if 0. On Windows it is always CTRL_BREAK.
	Signal syscall.Signal
	// Deadlines end the group unless Extend moves them.
	Deadlines Deadlines
	// Lock is a descriptor that the guard keeps open until the whole group is dead, nil for none: that of the kernel
	// lock which proves to others that a term is over. The caller may close its own at any time after Start. The
	// command does not inherit it. On Windows it is not used.
	Lock *os.File
	// NoCgroup keeps the command in the cgroup of this process even where it could have one of its own.
	NoCgroup bool
	// Logger gets what happens to the group, nil for silence.
	Logger *slog.Logger
}

// complete returns the options with every default in its place.
func (o Options) complete() (Options, error) {
	if len(o.Command) == 0 || o.Command[0] == "" {
		return o, errors.New("guard: there is no command to run")
	}
	if o.Signal == 0 {
		o.Signal = syscall.SIGTERM
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Dir != "" {
		if _, err := os.Stat(o.Dir); err != nil {
			return o, fmt.Errorf("guard: the command's working directory: %w", err)
		}
	}
	return o, o.Deadlines.check()
}

// outfit gives a process the environment, directory and standard files of the command.
func (o Options) outfit(process *exec.Cmd) {
	process.Env, process.Dir = o.Env, o.Dir
	// A nil *os.File must become a nil interface.
	if o.Stdin != nil {
		process.Stdin = o.Stdin
	}
	if o.Stdout != nil {
		process.Stdout = o.Stdout
	}
	if o.Stderr != nil {
		process.Stderr = o.Stderr
	}
}
