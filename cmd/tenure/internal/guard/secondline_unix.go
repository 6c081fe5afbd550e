//go:build unix

package guard

import (
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// stuckAfter is how long the guard process may take to see all of a killed group dead and end. Nothing acts any more
// by then; a guard process that is killed in vain loses nothing but the word that all went well.
const stuckAfter = 3 * time.Second

// secondLine is the enforcer in the supervisor. It follows the same course as the guard process and does nothing as
// long as that reports to have done its duty. If the guard process is stuck, it acts in its place; if that dies, it
// finishes.
type secondLine struct {
	process  *exec.Cmd
	orders   *pipe
	incoming *os.File    // the pipe with the guard process's reports
	reports  chan report // what the guard process reports, and what becomes of it; never full
	alarm    *alarm
	signal   syscall.Signal
	changed  chan struct{} // send has moved the course

	mu     sync.Mutex // guards course alone
	course course

	leader int    // the command, 0 until it runs
	cell   string // the directory of its cgroup, if it has one
	done   phase  // what the guard process has done to the group
	acted  phase  // what was done here
	phase  phase  // what the course demands …
	since  Instant
	exited bool    // the command's end was reported
	ended  *report // … and that of the whole group
}

func newSecondLine(options Options) (*secondLine, error) {
	alarm, err := newAlarm()
	if err != nil {
		return nil, err
	}
	const allReports = 16 // more than one group gives rise to
	return &secondLine{
		reports: make(chan report, allReports), alarm: alarm, signal: options.Signal, changed: make(chan struct{}, 1),
		course: course{deadlines: options.Deadlines},
	}, nil
}

// send gives an order to the guard process and takes it in here. Deadlines that did not arrive there do not count
// here either, so that the caller can rely on those before.
func (l *secondLine) send(o order) error {
	err := l.orders.put(o)
	if err != nil && o.Kind == orderExtend {
		return err
	}
	l.mu.Lock()
	l.course.obey(Now(), o)
	l.mu.Unlock()
	select {
	case l.changed <- struct{}{}:
	default:
	}
	return err
}

// run returns when the guard process is dead and nothing of the group is left.
func (l *secondLine) run(reports <-chan report) {
	defer l.finish()
	for {
		l.alarm.set(l.enforce(Now()))
		select {
		case r, ok := <-reports:
			if !ok {
				return
			}
			l.note(r)
		case <-l.changed:
		case <-l.alarm.C:
		}
	}
}

func (l *secondLine) note(r report) {
	switch r.Kind {
	case reportStarted:
		l.leader, l.cell = r.PID, r.Cgroup
	case reportEnding:
		l.done = r.Phase
	case reportExited:
		l.exited = true
		l.mu.Lock()
		l.course.exited(Now())
		l.mu.Unlock()
	case reportEnded:
		if l.acted != leading && r.Cause == CauseExit {
			r.Cause = l.cause() // a guard process that was stuck takes what was done here for the command's own end
		}
		l.ended = &r
		return // to be passed on when the guard process is gone as well
	}
	l.reports <- r
}

// enforce does what the guard process should have done but did not, and returns when to look again.
func (l *secondLine) enforce(now Instant) Instant {
	l.mu.Lock()
	l.course.advance(now)
	phase, next, patience := l.course.phase, l.course.next(), l.course.deadlines.patience()
	l.mu.Unlock()
	if phase != l.phase {
		l.phase, l.since = phase, now
	}
	switch due, stuck := l.since.Add(patience), l.since.Add(stuckAfter); {
	case phase == leading, phase == draining && max(l.done, l.acted) == draining:
		return next
	case phase == killing && now >= stuck:
		_ = l.process.Process.Kill()
		return now.Add(stuckAfter)
	case l.done == killing:
		return stuck
	case now < due:
		return due
	}
	l.act(phase)
	return now.Add(patience)
}

// act does to the group what the phase demands.
func (l *secondLine) act(p phase) {
	l.acted = p
	if p == draining {
		stopBelow(l.process.Process.Pid, l.leader, l.signal)
	} else {
		killBelow(l.process.Process.Pid, l.leader, l.cell)
	}
}

// finish makes sure that nothing is left after the death of the guard process, and passes the result on.
func (l *secondLine) finish() {
	waitGuard(l.process)
	l.orders.close()
	l.incoming.Close()
	l.alarm.close()
	defer close(l.reports)
	if l.ended != nil {
		buryCommand(l.leader)
		l.reports <- *l.ended
		return
	}
	killBelow(l.process.Process.Pid, l.leader, l.cell)
	exit, known := endOrphans(l.leader)
	endCgroup(l.cell)
	if known && !l.exited {
		l.reports <- report{Kind: reportExited, Code: exit.Code, Signal: exit.Signal}
	}
	l.reports <- report{Kind: reportLost, Cause: l.lost()}
}

// lost returns why the group has ended if the guard process died.
func (l *secondLine) lost() Cause {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.course.abandon(CauseLost)
	return l.course.cause
}

// cause returns why the group was ended by what is known here.
func (l *secondLine) cause() Cause {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.course.cause
}

// signalGroup signals a process group, if it is known yet.
func signalGroup(leader int, sig syscall.Signal) {
	if leader != 0 {
		_ = syscall.Kill(-leader, sig)
	}
}
