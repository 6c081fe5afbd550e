package guard

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"syscall"
)

// Guard watches over a running command. Its methods are safe for concurrent use.
type Guard struct {
	command string
	logger  *slog.Logger
	send    func(order) error

	started chan struct{} // closed when the command runs
	ended   chan struct{} // closed when nothing of it is left

	mu       sync.Mutex
	signalAt Instant // the deadline that stands
	ending   bool
	pid      int
	exit     Exit
	err      error
}

// Start starts the command under guard and returns once it runs. ctx bounds the start alone: if it ends before, the
// command is killed, if it runs at all, and the error is the context's cause.
//
// The error is [ErrOverdue] if SignalAt had passed before the command could be started, also if the guard process took
// so long to start that it was killed; a [CommandError] if the command cannot be started; [ErrLost] if the guard
// process died by itself.
//
// On Linux this process becomes the reaper of orphans among its descendants. It should have no other children that
// are in a session of their own: they would be killed with the orphans if the guard is lost. As the first process of a
// container it has all of the container's orphans for children.
func Start(ctx context.Context, options Options) (*Guard, error) {
	options, err := options.complete()
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if Now() >= options.Deadlines.SignalAt {
		return nil, ErrOverdue
	}
	send, reports, err := launch(options)
	if err != nil {
		return nil, err
	}
	g := &Guard{
		command: options.Command[0], logger: options.Logger, send: send,
		started: make(chan struct{}), ended: make(chan struct{}), signalAt: options.Deadlines.SignalAt,
		exit: Exit{Code: -1},
	}
	go g.follow(reports)
	if err := g.await(ctx); err != nil {
		return nil, err
	}
	return g, nil
}

// await waits until the command runs, or certainly does not.
func (g *Guard) await(ctx context.Context) error {
	select {
	case <-g.started:
		return nil
	case <-g.ended:
	case <-ctx.Done():
		_ = g.Kill()
		<-g.ended
		return context.Cause(ctx)
	}
	select {
	case <-g.started: // and ended at once
		return nil
	default:
		return cmp.Or(g.err, ErrLost)
	}
}

// PID returns the process ID of the command, which is also that of its process group.
func (g *Guard) PID() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.pid
}

// Extend moves the deadlines, as after a renewal. It never waits. The error is [ErrEnding] if the group is being ended
// already, and [ErrStalled] if the guard does not take the message, so that the deadlines before remain.
func (g *Guard) Extend(deadlines Deadlines) error {
	if err := deadlines.check(); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ending || Now() >= g.signalAt {
		return ErrEnding
	}
	if err := g.send(order{Kind: orderExtend, Deadlines: deadlines}); err != nil {
		return err
	}
	g.signalAt = deadlines.SignalAt
	return nil
}

// Terminate sends the group the signal to stop now, and kills what is left of it at killAt, or at the deadline that
// stands if that is earlier. Deadlines that come later no longer count. Use [Guard.Wait] for the end. With the error
// [ErrStalled] it happens still, a moment later: what the guard does not do is done by this process.
func (g *Guard) Terminate(killAt Instant) error {
	return g.send(order{Kind: orderTerminate, Deadlines: Deadlines{KillAt: killAt}})
}

// Kill kills the group now. Use [Guard.Wait] for the end. [ErrStalled] means the same as with Terminate.
func (g *Guard) Kill() error { return g.send(order{Kind: orderKill}) }

// Signal passes a signal on to the group, without any other effect.
func (g *Guard) Signal(sig syscall.Signal) error {
	return g.send(order{Kind: orderSignal, Signal: sig})
}

// Ended returns a channel that is closed when nothing of the group is left.
func (g *Guard) Ended() <-chan struct{} { return g.ended }

// Wait waits until nothing of the group is left and returns how the command itself ended. The error is [ErrLost] if
// the guard process died; what is known about the command is returned still.
func (g *Guard) Wait() (Exit, error) {
	<-g.ended
	return g.exit, g.err
}

// follow takes the reports in until there are no more.
func (g *Guard) follow(reports <-chan report) {
	defer close(g.ended)
	for r := range reports {
		g.note(r)
		if r.Kind == reportStarted {
			close(g.started)
		}
		g.log(r)
	}
}

func (g *Guard) note(r report) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch r.Kind {
	case reportStarted:
		g.pid = r.PID
	case reportRefused:
		g.err = g.refused(r)
	case reportEnding:
		g.ending = true
	case reportExited:
		g.exit.Code, g.exit.Signal = r.Code, r.Signal
	case reportEnded:
		g.ending, g.exit.Cause = true, r.Cause
	case reportLost:
		g.ending, g.exit.Cause, g.err = true, r.Cause, g.lost(r)
	}
}

// lost tells a guard process that died from one that was killed because the command did not run in time.
func (g *Guard) lost(r report) error {
	if g.pid == 0 && r.Cause == CauseDeadline {
		return ErrOverdue
	}
	return ErrLost
}

// log runs outside of the lock: a slow handler must not delay an extension.
func (g *Guard) log(r report) {
	log := g.logger.With("command", g.command, "pid", g.PID())
	switch r.Kind {
	case reportStarted:
		log.Info("command started", "cgroup", r.Cgroup)
	case reportRefused:
		if r.Cause == CauseDeadline { // other reasons end the run, and whoever started it tells them
			g.logOverdue()
		}
	case reportEnding:
		log.Info("command is being ended", "cause", r.Cause, "killed", r.Phase == killing)
	case reportExited:
		log.Info("command exited", "status", Exit{Code: r.Code, Signal: r.Signal}.String())
	case reportLost:
		if errors.Is(g.err, ErrOverdue) {
			g.logOverdue()
			return
		}
		log.Error("guard process died, command killed", "cause", r.Cause)
	}
}

func (g *Guard) logOverdue() {
	g.logger.Warn("command not started", "command", g.command, "error", ErrOverdue)
}

func (g *Guard) refused(r report) error {
	switch {
	case r.Cause == CauseDeadline:
		return ErrOverdue
	case r.Code == 0:
		return errors.New(r.Text)
	}
	return &CommandError{Command: g.command, Code: r.Code, Reason: r.Text}
}
