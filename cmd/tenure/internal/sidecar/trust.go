package sidecar

import (
	"runtime"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/cmd/tenure/internal/guard"
)

// trust is until when a leader may act if it hears nothing more. Each instant was read before what is left of the
// lease was, so that a pause between the two makes it earlier, never later.
type trust struct {
	Milliseconds int64     `json:"trust_ms"`
	Until        time.Time `json:"trust_until,omitzero"`
	// Boot is by the clock that all processes of this host share, and that counts suspension: CLOCK_BOOTTIME.
	Boot int64 `json:"trust_until_boottime_ms,omitempty"`

	until time.Time // with the monotonic reading, which JSON has not
}

func trustOf(term tenure.Term) trust {
	var left time.Duration
	now := time.Now()
	boot := guard.Expiry(func() time.Duration {
		left = term.Remaining().Truncate(time.Millisecond)
		return left
	})
	if left <= 0 {
		return trust{}
	}
	t := trust{Milliseconds: left.Milliseconds(), Until: stamp(now.Add(left)), until: now.Add(left)}
	if runtime.GOOS == "linux" {
		t.Boot = time.Duration(boot).Milliseconds()
	}
	return t
}

// stamp is a time as JSON shows it. It is cut, so that it is never later.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
