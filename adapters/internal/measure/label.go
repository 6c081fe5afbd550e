package measure

import (
	"context"
	"errors"

	"github.com/tenure-go/tenure"
)

// causes are the values of the label "reason".
var causes = []struct {
	err    error
	reason string
}{
	{tenure.ErrLeaseExpired, "lease_expired"},
	{tenure.ErrDeposed, "deposed"},
	{tenure.ErrRevoked, "revoked"},
	{tenure.ErrResigned, "resigned"},
	{tenure.ErrUnhealthy, "unhealthy"},
	{tenure.ErrStopped, "stopped"},
}

// Reasons returns the values of the label "reason".
func Reasons() []string {
	all := make([]string, 0, len(causes)+1)
	for _, c := range causes {
		all = append(all, c.reason)
	}
	return append(all, "other")
}

// Reason returns the value for the cause of a term's end. It is never anything else than one of Reasons.
func Reason(cause error) string {
	for _, c := range causes {
		if errors.Is(cause, c.err) {
			return c.reason
		}
	}
	return "other"
}

// Kinds returns the values of the label "kind".
func Kinds() []string { return []string{"not_applied", "permanent", "timeout", "unknown"} }

// Outcome returns the value of the label "outcome" for the result of a call: "ok", "conflict", or one of Kinds.
func Outcome(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, tenure.ErrConflict):
		return "conflict"
	case errors.Is(err, tenure.ErrPermanent):
		return "permanent"
	case errors.Is(err, tenure.ErrNotApplied):
		return "not_applied"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return "timeout"
	}
	return "unknown"
}

// The values of the label "after": how a leader went.
const (
	// AfterRelease: it gave the seat back, or the store vouched for its death.
	AfterRelease = "release"
	// AfterSilence: its lease had to run out.
	AfterSilence = "silence"
)
