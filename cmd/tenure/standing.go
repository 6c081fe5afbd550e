package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/tenure-go/tenure"
)

// standing is how an election stands: what one look at its record tells. It is the JSON form too, whose names and
// states are stable.
type standing struct {
	Election string `json:"election"`
	// State is one of the states below.
	State string `json:"state"`
	// Leader is who the record names. Whether it lives, one look cannot prove.
	Leader   string            `json:"leader,omitempty"`
	Token    uint64            `json:"token"`
	TTL      float64           `json:"ttl_seconds,omitempty"`
	Since    time.Time         `json:"elected_at,omitzero"`
	Renewed  time.Time         `json:"renewed_at,omitzero"`
	Address  string            `json:"address,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
	Reserved string            `json:"reserved_for,omitempty"`
	Request  *tenure.Request   `json:"request,omitempty"`
	Pause    *tenure.Pause     `json:"pause,omitempty"`
}

// States of an election.
const (
	stateHeld      = "held"      // the record names a leader
	stateAbandoned = "abandoned" // … whose process is dead, for which the store vouches
	stateSilent    = "silent"    // … that was not heard of for its TTL; only watching tells
	stateVacant    = "vacant"    // nobody leads
	statePaused    = "paused"    // nobody leads, and nobody may
	stateForgotten = "forgotten" // nobody uses it
	stateMissing   = "missing"   // there is no record
)

func standingOf(election string, c tenure.Change) standing {
	r := c.Record
	s := standing{
		Election: election, State: stateOf(c), Leader: r.Leader, Token: r.Token, TTL: r.TTL.Seconds(),
		Since: r.ElectedAt, Renewed: r.RenewedAt, Address: r.Address, Metadata: r.Metadata, Reserved: r.Reserved,
		Pause: r.Pause,
	}
	if r.Vacant() {
		s.Since, s.Renewed = time.Time{}, time.Time{}
	}
	if r.Request != nil && r.Request.Token == r.Token && !r.Vacant() {
		s.Request = r.Request
	}
	return s
}

func stateOf(c tenure.Change) string {
	r := c.Record
	switch {
	case !c.Exists:
		return stateMissing
	case r.Forgotten:
		return stateForgotten
	case r.Vacant() && r.Pause != nil:
		return statePaused
	case r.Vacant():
		return stateVacant
	case c.Abandoned:
		return stateAbandoned
	case c.Silent:
		return stateSilent
	}
	return stateHeld
}

// note says what the columns of a table do not.
func (s standing) note(now time.Time) string {
	var notes []string
	switch s.State {
	case stateAbandoned:
		notes = append(notes, "abandoned: the leader's process is dead")
	case stateSilent:
		notes = append(notes, "silent: the leader was not heard of for its TTL")
	case stateForgotten:
		notes = append(notes, "forgotten")
	case stateMissing:
		notes = append(notes, "no such election")
	case stateHeld:
		if now.Sub(s.Renewed).Seconds() > s.TTL {
			notes = append(notes, "last renewed longer than a TTL ago, if the clocks agree")
		}
	}
	return strings.Join(append(notes, s.wishes()...), "; ")
}

// wishes are what operators ask for.
func (s standing) wishes() []string {
	var wishes []string
	if s.Reserved != "" {
		wishes = append(wishes, "kept for "+s.Reserved)
	}
	if p := s.Pause; p != nil {
		wishes = append(wishes, "paused"+by(p.By)+because(p.Reason))
	}
	if r := s.Request; r != nil && r.To != "" {
		wishes = append(wishes, "asked to hand over to "+r.To+by(r.By))
	} else if r != nil {
		wishes = append(wishes, "asked to resign"+by(r.By))
	}
	return wishes
}

func by(who string) string {
	if who == "" {
		return ""
	}
	return " by " + who
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// ago is how long before now something was, for people.
func ago(now, then time.Time) string {
	if then.IsZero() {
		return ""
	}
	d := now.Sub(then)
	switch {
	case d < 0:
		return "in " + rough(-d) // by another clock
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs ago", d.Seconds())
	}
	return rough(d) + " ago"
}

// rough is a duration in its two largest units.
func rough(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= day:
		return fmt.Sprintf("%dd%dh", d/day, d%day/time.Hour)
	case d >= time.Hour:
		return fmt.Sprintf("%dh%dm", d/time.Hour, d%time.Hour/time.Minute)
	case d >= time.Minute:
		return fmt.Sprintf("%dm%ds", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%.0fs", d.Seconds())
}
