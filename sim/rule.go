package sim

import (
	"fmt"
	"time"
)

// Rule is one promise of the protocol.
type Rule uint8

// The rules: safety S1 to S13, liveness L1 to L5, and those of requests, of the record's
// other fields and of the health check.
const (
	S1 Rule = iota
	S2
	S3
	S4
	S5
	S6
	S7
	S8
	S9
	S10
	S11
	S12
	S13
	L1
	L2
	L3
	L4
	L5
	Requests
	Reserve
	Fields
	Health
	Revoking
	numRules
)

var rules = [numRules]struct{ name, text string }{
	S1:  {"S1", "no two candidates are trusted, or do leader work in the time given to it, at the same instant"},
	S2:  {"S2", "the token grows with every term, is constant within one and never falls"},
	S3:  {"S3", "the lease counts from before the sending of the attempt that landed; a late reply is no win"},
	S4:  {"S4", "trust is read from the clock at every question, and never returns once refused"},
	S5:  {"S5", "a renewal or release touches the record only if it is ours: session and token"},
	S6:  {"S6", "two processes with one ID never both lead"},
	S7:  {"S7", "an unknown outcome is settled by seeing it or by its version being gone, never by assuming"},
	S8:  {"S8", "release only after leader work has returned or its drain has passed; no bid with unreturned work"},
	S9:  {"S9", "the TTL that counts is the one that the store holds"},
	S10: {"S10", "nothing shortens another's wait below the recorded TTL"},
	S11: {"S11", "nothing runs, is called or is written after the stop is done"},
	S12: {"S12", "a configuration that cannot be safe is refused"},
	S13: {"S13", "a record that vanished or went back is treated as held"},
	L1:  {"L1", "a vacancy is filled within two round trips, one poll interval more without push"},
	L2:  {"L2", "a crash is followed within the TTL and two round trips, one poll interval more without push"},
	L3:  {"L3", "one failed renewal, a stale read, or a store away for less than the lease changes nothing"},
	L4:  {"L4", "after the faults have healed every candidate stands again and one leads, with no help"},
	L5:  {"L5", "no storm of requests"},

	Requests: {"requests", "a request is obeyed by the term that it addresses and no other; a paused seat is not taken"},
	Reserve:  {"reserve", "a seat kept for one candidate is left to it for a TTL, and one that was resigned to others"},
	Fields:   {"fields", "fields of the record that a candidate does not know survive its writes"},
	Health:   {"health", "a candidate whose health check fails neither leads on nor is elected"},
	Revoking: {"revoking", "a term for which the store no longer vouches ends at once"},
}

// String returns the rule's name.
func (r Rule) String() string { return rules[r].name }

// Text returns what the rule says.
func (r Rule) Text() string { return rules[r].text }

// ParseRule returns the rule of that name.
func ParseRule(name string) (Rule, error) {
	for r := range rules {
		if rules[r].name == name {
			return Rule(r), nil
		}
	}
	return 0, fmt.Errorf("there is no rule %q", name)
}

// Violation is one broken rule in a history.
type Violation struct {
	Rule Rule
	At   time.Duration // true time
	Node int           // whose doing it was, -1 if nobody's in particular
	Text string
}

// String tells the violation with the rule's text.
func (v Violation) String() string {
	who := ""
	if v.Node >= 0 {
		who = fmt.Sprintf(" node %d", v.Node)
	}
	return fmt.Sprintf("%v broken at %v%s: %s (%s)", v.Rule, v.At, who, v.Text, v.Rule.Text())
}
