package history

import "time"

// Event is one line of a history: who says it and when, and exactly one of the bodies that follow.
type Event struct {
	// At is when the event was written down.
	At Instant `json:"at"`
	// Process is the name of the process that wrote it, and Life how often it has been started, from one.
	Process string `json:"process"`
	Life    int    `json:"life"`

	Run       *Run       `json:"run,omitempty"`
	Start     *Start     `json:"start,omitempty"`
	Elected   *Elected   `json:"elected,omitempty"`
	Ended     *Ended     `json:"ended,omitempty"`
	Trust     *Trust     `json:"trust,omitempty"`
	Invoke    *Invoke    `json:"invoke,omitempty"`
	Return    *Return    `json:"return,omitempty"`
	Resources *Resources `json:"resources,omitempty"`
	Requests  *Requests  `json:"requests,omitempty"`
	Stall     *Stall     `json:"stall,omitempty"`
	Exit      *Exit      `json:"exit,omitempty"`
	Fault     *Fault     `json:"fault,omitempty"`
	Undone    *Undone    `json:"undone,omitempty"`
	Healed    *Healed    `json:"healed,omitempty"`
	Finish    *Finish    `json:"finish,omitempty"`
}

// bodies is how many bodies an event has. A line must have one.
func (e *Event) bodies() (n int) {
	for _, present := range []bool{
		e.Run != nil, e.Start != nil, e.Elected != nil, e.Ended != nil, e.Trust != nil, e.Invoke != nil, e.Return != nil,
		e.Resources != nil, e.Requests != nil, e.Stall != nil, e.Exit != nil, e.Fault != nil, e.Undone != nil,
		e.Healed != nil, e.Finish != nil,
	} {
		if present {
			n++
		}
	}
	return n
}

// Run is the first event of the nemesis: what this run is, and what it has to show.
type Run struct {
	// Store is the name of the store and of how it runs, as in "redis with a replica".
	Store string `json:"store"`
	// Server is the server's own name and version.
	Server string `json:"server,omitempty"`
	// Grade is the grade that the run holds the store to, in the words of tenure.Grade; Reasons are the store's.
	Grade   string   `json:"grade"`
	Reasons []string `json:"reasons,omitempty"`
	// Seed makes the same faults again, with Command.
	Seed    uint64 `json:"seed"`
	Command string `json:"command"`
	// Began is the wall clock's time, for people.
	Began time.Time `json:"began"`
	// Lasts is how long the run is meant to take.
	Lasts      time.Duration `json:"lasts"`
	Candidates int           `json:"candidates"`
	TTL        time.Duration `json:"ttl"`
	// Machine and Versions are facts for people: processor, kernel, Go, revision of this repository.
	Machine  map[string]string `json:"machine,omitempty"`
	Versions map[string]string `json:"versions,omitempty"`
	// Unprotected names the protections that are switched off, for a run that must fail.
	Unprotected []string `json:"unprotected,omitempty"`
	// Faults are the kinds of faults each of which has to have struck.
	Faults []string `json:"faults,omitempty"`
	// Least is what has to have happened for the run to prove anything.
	Least Least `json:"least"`
	// Load is how many requests to the store are allowed.
	Load Load `json:"load"`
}

// Least is how much has to happen in a run. A zero asks for nothing.
type Least struct {
	Terms  int `json:"terms,omitempty"`
	Writes int `json:"writes,omitempty"`
	// Refused counts the operations that the fenced register refused.
	Refused int `json:"refused,omitempty"`
	Faults  int `json:"faults,omitempty"`
	// Heals counts the healings after which a leader was seen again.
	Heals int `json:"heals,omitempty"`
}

// Load is the ceiling of requests to the store, for one candidate and minute.
type Load struct {
	// Leader and Follower are while nothing is wrong, and Fault while something is.
	Leader   float64 `json:"leader"`
	Follower float64 `json:"follower"`
	Fault    float64 `json:"fault"`
	// Change is how many more a change of leader may cost each candidate.
	Change float64 `json:"change"`
}

// Start is the first event of a candidate's life.
type Start struct {
	PID     int      `json:"pid"`
	Store   string   `json:"store"`
	Grade   string   `json:"grade,omitempty"`
	Reasons []string `json:"reasons,omitempty"`
	// Kind tells candidates of the library from commands under a supervisor.
	Kind string `json:"kind,omitempty"`
	// Session is one for each life of a candidate. A command has its supervisor's: if that starts it again within one
	// term, both lives have it, one after the other.
	Session string            `json:"session,omitempty"`
	TTL     time.Duration     `json:"ttl"`
	Options map[string]string `json:"options,omitempty"`
}

// Elected says that a term began, as the candidate was told.
type Elected struct {
	Token   uint64 `json:"token"`
	Session string `json:"session"`
}

// Ended says that a term is over, and why.
type Ended struct {
	Token   uint64 `json:"token"`
	Session string `json:"session"`
	Cause   string `json:"cause,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// Trust is a span through which the process was certainly trusted with a term: From is read after the first yes to the
// question whether it leads, To before the last. Since trust that was refused never returns within a term, everything
// between two yeses is trusted. A span is written in pieces, each beginning where the one before has ended; a gap
// between two of the same term means that there was a no in it.
type Trust struct {
	From    Instant `json:"from"`
	To      Instant `json:"to"`
	Token   uint64  `json:"token"`
	Session string  `json:"session"`
}

// What can be done with a register.
const (
	Read  = "read"
	Write = "write"
)

// How an operation on a register ended. Unknown: it may or may not have been done, or may yet be.
const (
	OK      = "ok"
	Refused = "refused" // the register had met a higher token; nothing was done
	Failed  = "failed"  // certainly not done
	Unknown = "unknown"
)

// Invoke says that an operation on a fenced register is about to be sent; without a Return of the same number nothing
// is known of it. A register refuses every operation, reads included, whose token is lower than the highest that it
// has met, and otherwise takes that token for the highest; each register has a mark of its own. Token zero is an
// onlooker's: its reads are never refused and raise nothing.
type Invoke struct {
	// Operation numbers the operations of one life.
	Operation int    `json:"operation"`
	Kind      string `json:"kind"`
	// Register names what is read or written. A counter is written with one more than was read just before; anything
	// else with values that nobody writes twice. All begin as zero.
	Register string `json:"register"`
	Counter  bool   `json:"counter,omitempty"`
	Token    uint64 `json:"token"`
	// Value is what is written.
	Value int64 `json:"value,omitempty"`
}

// Return says how an operation ended.
type Return struct {
	Operation int    `json:"operation"`
	Outcome   string `json:"outcome"`
	// Value is what was read.
	Value int64  `json:"value,omitempty"`
	Error string `json:"error,omitempty"`
}

// Resources is what the process holds at a moment when nothing needs it: no term, no call in flight.
type Resources struct {
	Goroutines int `json:"goroutines"`
	// Descriptors is how many files are open. Sockets come and go with the pools of clients: whether one is left behind
	// is looked at when the store is closed, and is a failure of the process.
	Descriptors int `json:"descriptors"`
	// Sockets is how many of those are open: a connection may have goroutines.
	Sockets int `json:"sockets,omitempty"`
	// Terms is how many terms this life has had.
	Terms int `json:"terms"`
}

// Requests counts what this life has sent to the store so far.
type Requests struct {
	Loads uint64 `json:"loads"`
	Swaps uint64 `json:"swaps"`
	// Watches counts the watches that were set up, Failed the loads and swaps that returned an error.
	Watches uint64 `json:"watches,omitempty"`
	Failed  uint64 `json:"failed,omitempty"`
}

// Stall is a time in which the process wanted to run and did not, as a watchdog found that slept less.
type Stall struct {
	From Instant `json:"from"`
	To   Instant `json:"to"`
}

// Exit is the last event of a life that was not killed.
type Exit struct {
	Code   int    `json:"code"`
	Reason string `json:"reason,omitempty"`
}

// Fault says that the nemesis is about to do something. It lasts until the Undone of the same number.
type Fault struct {
	// Number tells faults of one run apart.
	Number int    `json:"number"`
	Kind   string `json:"kind"`
	// Targets are the processes and servers that are struck.
	Targets    []string          `json:"targets"`
	Parameters map[string]string `json:"parameters,omitempty"`
	// Kills and Freezes tell that the targets among the candidates are ended, or stopped, by it: then they must have
	// been silent.
	Kills   bool `json:"kills,omitempty"`
	Freezes bool `json:"freezes,omitempty"`
	// Loses tells that the store may have lost acknowledged writes by it, which only a grade below exclusive excuses.
	Loses bool `json:"loses,omitempty"`
}

// Undone says that a fault has been undone, and was real.
type Undone struct {
	Number int `json:"number"`
	// From and To are when the fault was certainly in force, both zero if it never was. A fault of a moment, such as a
	// kill, is in force at From, and To is the same.
	From Instant `json:"from"`
	To   Instant `json:"to"`
	// Effect is what the nemesis has seen of it.
	Effect string `json:"effect,omitempty"`
	Error  string `json:"error,omitempty"`
}

// Healed says that no fault is in force any more and the store answers, so that somebody has to lead within Bound.
type Healed struct {
	Bound time.Duration `json:"bound"`
}

// Finish is the last event of the nemesis.
type Finish struct {
	// Error is what kept the run from being what it was meant to be.
	Error string `json:"error,omitempty"`
}
