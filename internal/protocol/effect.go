package protocol

import (
	"time"

	"github.com/tenure-go/tenure/internal/clock"
)

// Do says what an Effect asks for.
type Do uint8

// The effects, in the order in which Step returns them to be carried out.
const (
	Load          Do = iota // load the record, within Timeout
	Write                   // swap Base for Record, within Timeout
	CancelCall              // end the call in flight: its reply is no longer of use
	Rewatch                 // the watch is silent: set it up anew
	Elected                 // a term begins: Token, trusted until Until
	Extended                // the term's trust is extended until Until
	Ended                   // the term is over for Cause; its context ends, leader work has to return
	Overran                 // leader work has not returned in time
	Vacated                 // the seat was given back
	LeaderChanged           // another term, or none, was seen in the record
	CallFailed              // a call failed with Outcome
	Copied                  // the process is one of several copies, and has another session from now on
	Done                    // the machine is off and nothing of it is in flight
)

var doNames = [...]string{
	"load", "write", "cancel call", "watch anew", "elected", "extended", "ended", "overran", "vacated",
	"leader changed", "call failed", "copied", "off",
}

// String names the effect in logs and decisions.
func (d Do) String() string { return doNames[d] }

// Purpose says what a Write is for.
type Purpose uint8

// The purposes of a Write.
const (
	Bid     Purpose = iota // begin a term
	Renew                  // extend it
	Release                // vacate the seat
)

var purposeNames = [...]string{"bid", "renew", "release"}

// String names the purpose in logs and decisions.
func (p Purpose) String() string { return purposeNames[p] }

// Cause says why a term ended.
type Cause uint8

// The causes of a term's end.
const (
	LeaseExpired Cause = iota
	Deposed
	Resigned
	Sick
	Stopped
	Revoked
)

// Effect is one thing to do.
type Effect struct {
	Do      Do
	Reason  string // why, for people
	Base    Snapshot
	Record  Record // of a Write, and as it was left by Vacated
	Purpose Purpose
	Timeout time.Duration
	Token   uint64
	Until   clock.Reading
	Cause   Cause
	Outcome Outcome
}
