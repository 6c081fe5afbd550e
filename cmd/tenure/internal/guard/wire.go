package guard

import "syscall"

// order is a message from the supervisor to the enforcer.
type order struct {
	Kind      orderKind      `json:"order"`
	Deadlines Deadlines      `json:"deadlines,omitzero"` // terminate uses KillAt alone
	Signal    syscall.Signal `json:"signal,omitzero"`
	NoCgroup  bool           `json:"no_cgroup,omitzero"`
}

// beginning is the order to start the command. The rest of its options the guard process was started with.
func beginning(options Options) order {
	return order{
		Kind: orderBegin, Signal: options.Signal, Deadlines: options.Deadlines, NoCgroup: options.NoCgroup,
	}
}

type orderKind string

const (
	orderBegin     orderKind = "begin"     // start the command; Signal is the one that asks it to stop
	orderExtend    orderKind = "extend"    // new deadlines
	orderTerminate orderKind = "terminate" // signal now, kill at KillAt
	orderKill      orderKind = "kill"      // kill now
	orderSignal    orderKind = "signal"    // pass Signal on
)

// report is a message from the enforcer to the supervisor.
type report struct {
	Kind   reportKind     `json:"report"`
	PID    int            `json:"pid,omitempty"`
	Cgroup string         `json:"cgroup,omitempty"`
	Cause  Cause          `json:"cause,omitempty"`
	Phase  phase          `json:"phase,omitempty"`
	Code   int            `json:"code,omitempty"`
	Signal syscall.Signal `json:"signal,omitempty"`
	Text   string         `json:"text,omitempty"`
}

type reportKind string

const (
	reportStarted reportKind = "started" // the command runs as PID, in Cgroup if there is one
	reportRefused reportKind = "refused" // it does not run: CauseDeadline, or Code and Text
	reportEnding  reportKind = "ending"  // what Phase demands has been done to the group, because of Cause
	reportExited  reportKind = "exited"  // the command itself has: Code or Signal
	reportEnded   reportKind = "ended"   // nothing of the group is left
	reportLost    reportKind = "lost"    // the guard process died; nothing of the group is left
)
