package guard

import (
	"syscall"
	"time"
)

// Strikes at a group that does not die at once, as when it forks faster than it is found, are repeated at growing
// intervals.
const (
	firstPause = time.Millisecond
	lastPause  = 50 * time.Millisecond
)

// ward watches over one group: it starts the command, takes orders, follows the course and returns when nothing of
// the group is left. It is what the guard process does.
type ward struct {
	group  *group
	course course
	alarm  *alarm
	signal syscall.Signal
	orders <-chan order // closed when the supervisor is gone
	report func(report)

	starting chan started // nil unless the command is being started
	running  bool         // the command was started
	exited   bool         // … and has exited
	done     phase        // what has been done to the group
	strikeAt Instant
	pause    time.Duration
}

// newWard returns a ward that has not started its command yet.
func newWard(options Options, orders <-chan order, report func(report)) (*ward, error) {
	alarm, err := newAlarm()
	if err != nil {
		return nil, err
	}
	group, err := newGroup(options)
	if err != nil {
		alarm.close()
		return nil, err
	}
	return &ward{
		group: group, course: course{deadlines: options.Deadlines}, alarm: alarm, signal: options.Signal,
		orders: orders, report: report,
	}, nil
}

// started is the outcome of starting the command.
type started struct {
	pid int
	err error
}

// start starts the command unless its time is over. It does not wait: a program on a file system that hangs must not
// keep the deadlines from being enforced.
func (w *ward) start(options Options) {
	if Now() >= w.course.deadlines.SignalAt {
		w.report(report{Kind: reportRefused, Cause: CauseDeadline})
		return
	}
	w.starting = make(chan started, 1)
	go func() {
		pid, err := w.group.spawn(options)
		w.starting <- started{pid, err}
	}()
}

// run returns when nothing of the group is left and nothing more can come.
func (w *ward) run() {
	for !w.over() {
		w.enforce()
		w.wait()
		w.look()
		w.course.advance(Now())
	}
	w.group.close()
	w.alarm.close()
	w.report(report{Kind: reportEnded, Cause: w.course.cause})
}

func (w *ward) over() bool {
	return w.starting == nil && (!w.running || w.exited && w.group.empty())
}

func (w *ward) wait() {
	w.alarm.set(w.next())
	select {
	case o, ok := <-w.orders:
		w.obey(o, ok)
	case outcome := <-w.starting:
		w.begun(outcome)
	case <-w.group.changes:
	case <-w.alarm.C:
	}
}

func (w *ward) next() Instant {
	switch {
	case w.course.phase == killing:
		return w.strikeAt
	case w.exited && recheck > 0:
		return min(w.course.next(), Now().Add(recheck))
	}
	return w.course.next()
}

func (w *ward) obey(o order, ok bool) {
	switch {
	case !ok:
		w.orders = nil
		w.course.abandon(CauseAbandoned)
	case o.Kind == orderSignal && w.running:
		w.group.signal(o.Signal)
	default:
		w.course.obey(Now(), o)
	}
}

func (w *ward) begun(outcome started) {
	w.starting = nil
	if outcome.err != nil {
		w.report(refusal(outcome.err))
		return
	}
	w.running = true
	w.group.leader = outcome.pid
	w.strikeAt = 0 // a strike before it was there may have missed it
	w.report(report{Kind: reportStarted, PID: outcome.pid, Cgroup: w.group.cell.name()})
}

// look takes note of what died.
func (w *ward) look() {
	w.group.reap()
	if !w.running || w.exited {
		return
	}
	exit, exited := w.group.exit()
	if !exited {
		return
	}
	w.exited = true
	w.report(report{Kind: reportExited, Code: exit.Code, Signal: exit.Signal})
	w.course.exited(Now())
}

// enforce does to the group what the phase demands. A group that is still being started is dealt with as soon as it
// is there.
func (w *ward) enforce() {
	switch w.course.phase {
	case draining:
		if w.running && w.done < draining {
			w.group.stop(w.signal)
			w.reached(draining)
		}
	case killing:
		w.strike()
		w.reached(killing)
	}
}

func (w *ward) reached(p phase) {
	if w.done < p {
		w.done = p
		w.report(report{Kind: reportEnding, Phase: p, Cause: w.course.cause})
	}
}

func (w *ward) strike() {
	now := Now()
	if now < w.strikeAt {
		return
	}
	w.group.kill()
	w.pause = min(max(2*w.pause, firstPause), lastPause)
	w.strikeAt = now.Add(w.pause)
}
