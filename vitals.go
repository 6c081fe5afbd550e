package tenure

import (
	"time"

	"github.com/tenure-go/tenure/internal/protocol"
)

// vitals are what Status tells beyond the machine's state.
type vitals struct {
	lastError   error
	lastErrorAt time.Time
	renewedAt   time.Time
	latency     time.Duration
	margin      time.Duration
	sent        time.Duration // monotonic reading before the call in flight
	ended       time.Duration // monotonic reading at the end of the last term
	waitsFor    string        // what the seat was last seen to wait for since then
	handOver    HandOver
}

// waits notes what the seat of an ended term waits for, if it is anything.
func (v *vitals) waits(what string) {
	if what != "" {
		v.waitsFor = what
	}
}

// handsOver notes when a term ends, and when its seat is given back.
func (v *vitals) handsOver(e protocol.Effect, now time.Duration) {
	switch e.Do {
	case protocol.Ended:
		v.ended, v.waitsFor = now, ""
	case protocol.Vacated:
		v.handOver = HandOver{Took: now - v.ended, WaitedFor: v.waitsFor}
	default:
	}
}
