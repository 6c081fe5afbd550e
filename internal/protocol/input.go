package protocol

import "time"

// Kind says what an Input is.
type Kind uint8

// The inputs. At most one call to the store is in flight; its Loaded or Wrote always comes, if only to say that the
// outcome is unknown.
const (
	Tick       Kind = iota // nothing but time has passed
	Stand                  // stand for election until stopped, again after every term
	StandOnce              // stand until one term has been led
	Try                    // bid once if the seat is free, otherwise leave it
	Resign                 // leave the seat of term Token (zero: whichever stands); To: keep it for that candidate
	Stop                   // leave the seat and the election
	Loaded                 // the reply to a Load
	Wrote                  // the reply to a Write
	Pushed                 // the watch delivered Snapshot
	WatchLost              // the watch was interrupted
	Healthy                // the health check succeeded
	Unhealthy              // the health check failed
	WorkChange             // what leader work remains: Work
	Distrust               // somebody asked the clock and found the trust over
)

var kindNames = [...]string{
	"tick", "stand", "stand once", "try", "resign", "stop", "loaded", "wrote", "pushed", "watch lost", "healthy",
	"unhealthy", "work", "distrust",
}

// String names the input in logs and decisions.
func (k Kind) String() string { return kindNames[k] }

// Outcome is what is known of a call.
type Outcome uint8

// The outcomes. The zero Outcome is success, with Snapshot as read or written.
const (
	OK         Outcome = iota
	Conflict           // the expected version was not the current one: this call wrote nothing
	NotApplied         // certainly not written
	Permanent          // certainly not written, nor will it be
	Unknown            // anything else
)

var outcomeNames = [...]string{"ok", "conflict", "not applied", "permanent failure", "unknown"}

// String names the outcome in logs and decisions.
func (o Outcome) String() string { return outcomeNames[o] }

// Work is what remains of leader work after the end of a term.
type Work uint8

// The amounts of work, by how its end is known.
const (
	NoWork     Work = iota
	HandedOut       // somebody was told that it leads; only the drain ends that
	Running         // functions that have to return
	Unreported      // not yet said: the runtime does so as soon as a term has ended
)

// Input is one thing that happened.
type Input struct {
	Kind     Kind
	Snapshot Snapshot // of Pushed, and of Loaded and Wrote if Outcome is OK
	Outcome  Outcome  // of Loaded and Wrote
	// RetryAfter is how long the store asks to wait, of NotApplied.
	RetryAfter time.Duration
	Token      uint64 // of Resign
	To         string // of Resign
	Work       Work
}
