package main

import (
	"time"

	"github.com/tenure-go/tenure"
)

// change is the JSON form of a change of an election. The values of Change are those of [tenure.ChangeKind].
type change struct {
	At     time.Time `json:"at"`
	Change string    `json:"change"`
	Reason string    `json:"reason"`
	standing
}

func newChange(election string, before, now tenure.Change) change {
	return change{
		At: now.At.UTC(), Change: now.Kind.String(), Reason: reason(before, now), standing: standingOf(election, now),
	}
}

// reasons say what led to a change, where that takes no look at the record.
var reasons = map[tenure.ChangeKind]string{
	tenure.ChangeReleased:  "the leader gave the seat back",
	tenure.ChangeSilent:    "the leader was not heard of for its TTL",
	tenure.ChangeAbandoned: "the leader's process is dead, for which the store vouches",
	tenure.ChangeReturned:  "the leader was silent, but renewed its lease after all",
	tenure.ChangeResumed:   "the pause was lifted",
	tenure.ChangeForgotten: "the record was emptied, or deleted as unused",
	tenure.ChangeLost:      "the record vanished or went back, which no candidate brings about",
}

// reason explains a change, as far as the record before and after it tells.
func reason(before, now tenure.Change) string {
	switch now.Kind {
	case tenure.ChangeFirst:
		return "at the beginning of the watch"
	case tenure.ChangeElected:
		return whyElected(before, now.Record.Leader)
	case tenure.ChangeAsked, tenure.ChangePaused:
		return wishOf(now)
	case tenure.ChangeReleased:
		if asked := before.Record.Request; asked != nil {
			return reasons[now.Kind] + " on request" + by(asked.By)
		}
	}
	return reasons[now.Kind]
}

func whyElected(before tenure.Change, leader string) string {
	r := before.Record
	switch {
	case !before.Exists, r.Forgotten:
		return "the election is new"
	case r.Vacant() && r.Reserved == leader && leader != "":
		return "the seat was kept for it"
	case r.Vacant() && r.Reserved != "":
		return "the seat was kept for " + r.Reserved + ", which did not come"
	case r.Vacant():
		return "the seat was vacant"
	case before.Abandoned:
		return "the process of " + r.Leader + " was dead"
	case before.Silent:
		return r.Leader + " was silent for its TTL"
	}
	return "it followed " + r.Leader // released, left silent or abandoned since the last look
}

func wishOf(now tenure.Change) string {
	if p := now.Record.Pause; now.Kind == tenure.ChangePaused && p != nil {
		return "paused" + by(p.By) + because(p.Reason)
	}
	r := now.Record.Request
	switch {
	case r == nil:
		return ""
	case r.To != "":
		return "asked to hand over to " + r.To + by(r.By)
	default:
		return "asked to resign" + by(r.By)
	}
}
