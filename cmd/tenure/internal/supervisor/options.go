package supervisor

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"syscall"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/cmd/tenure/internal/guard"
)

// Restart says what is done about a command that exits by itself while the term stands.
type Restart string

const (
	// RestartNever: its work is done, the candidate leaves.
	RestartNever Restart = "never"
	// RestartOnFailure: it is started again unless it exited with status 0.
	RestartOnFailure Restart = "on-failure"
	// RestartAlways: it is started again.
	RestartAlways Restart = "always"
)

// Set implements the Value of flag packages.
func (r *Restart) Set(text string) error {
	switch policy := Restart(text); policy {
	case RestartNever, RestartOnFailure, RestartAlways:
		*r = policy
		return nil
	}
	return fmt.Errorf("%q is none of never, on-failure, always", text)
}

func (r *Restart) String() string { return string(*r) }

// Type names the flag's value in usage texts.
func (r *Restart) Type() string { return "policy" }

// wanted reports whether the policy starts a command again that exited with this status.
func (r Restart) wanted(status int) bool {
	return r == RestartAlways || r == RestartOnFailure && status != 0
}

// MinDrain is the shortest drain: a quarter of it has to suffice for a kill to take effect.
const MinDrain = 100 * time.Millisecond

// longestPause bounds the pauses between restarts. A command that ran for longer starts with a short one again.
const longestPause = 30 * time.Second

// Options say what to run, and under which election.
type Options struct {
	Store    tenure.Store
	Election string
	// ID of the candidate, empty for one that is made.
	ID string
	// TTL of the lease, of which Drain is left to the command to stop. Drain is at least MinDrain.
	TTL, Drain time.Duration
	// Candidate are further options of the candidate.
	Candidate []tenure.Option

	// Command is the program and its arguments.
	Command []string
	// Env is added to the environment of this process.
	Env []string
	// Stdin, Stdout and Stderr are the command's own, nil for the null device.
	Stdin, Stdout, Stderr *os.File
	// Signal asks the command to stop.
	Signal syscall.Signal

	// Once ends the run with the first term, even if that was lost.
	Once bool
	// Restart is RestartNever if empty.
	Restart Restart
	// RestartDelay is the first pause before a restart. Each further one is twice as long.
	RestartDelay time.Duration
	// NoCgroup keeps the command in the cgroup of this process even where it could have one of its own.
	NoCgroup bool
	// Force kills the command at once when it ends. It may be nil.
	Force context.Context

	Logger *slog.Logger
}

// clockError bounds the error of the rates of this host's clocks.
const clockError = 0.01

// trust is how long a renewal lets the command run at least: what the drain leaves of the lease. The clock error is
// taken off twice, which leaves room for the grain of the clocks.
func (o Options) trust() time.Duration {
	return time.Duration(float64(o.TTL)*(1-2*clockError)) - o.Drain
}

// candidate returns the options of the candidate. A long drain leaves less of the lease for renewals, which are then
// made more often.
func (o Options) candidate() []tenure.Option {
	trust := o.trust()
	options := []tenure.Option{
		tenure.WithTTL(o.TTL), tenure.WithDrain(o.Drain), tenure.WithClockError(clockError), tenure.WithLogger(o.Logger),
		tenure.WithRenewInterval(min(o.TTL/3, trust/2)), tenure.WithCallTimeout(min(o.TTL/6, trust/4)),
	}
	if o.ID != "" {
		options = append(options, tenure.WithID(o.ID))
	}
	return append(options, o.Candidate...)
}

// check refuses what can be seen to be wrong before anything is started.
func (o Options) check() error {
	switch {
	case len(o.Command) == 0:
		return fmt.Errorf("%w: there is no command to run", tenure.ErrConfig)
	case o.TTL < tenure.MinTTL:
		return fmt.Errorf("%w: a TTL of %v is too short: want %v at least", tenure.ErrConfig, o.TTL, tenure.MinTTL)
	case o.Drain < MinDrain:
		return fmt.Errorf("%w: a drain of %v leaves no time to end a command before the lease does: want %v at least",
			tenure.ErrConfig, o.Drain, MinDrain)
	case o.Drain > o.TTL*3/4:
		return fmt.Errorf("%w: a drain of %v leaves too little of the TTL of %v to lead: want three quarters of it at most",
			tenure.ErrConfig, o.Drain, o.TTL)
	case o.RestartDelay <= 0:
		return fmt.Errorf("%w: the restart delay %v must be positive", tenure.ErrConfig, o.RestartDelay)
	}
	return nil
}

// amplyTrusted is a trust within which any machine starts a command.
const amplyTrusted = time.Second

// checkStart refuses a lease that leaves no time to start the command, so that the candidate would lead and the command
// never run. It measures how long a start takes, where that may matter. What is only scarce is not refused: the machine
// may be busy just now.
func (o Options) checkStart() error {
	if o.trust() >= amplyTrusted {
		return nil
	}
	start, err := guard.StartTime()
	if err != nil {
		return err
	}
	if o.trust() < start {
		enough := (o.Drain + 3*start).Round(time.Millisecond)
		return fmt.Errorf("%w: a TTL of %v and a drain of %v leave %v to start the command, which takes %v here: "+
			"want a TTL of %v at least", tenure.ErrConfig, o.TTL, o.Drain, o.trust(), start.Round(time.Millisecond), enough)
	}
	return nil
}
