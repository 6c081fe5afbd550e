package tenure

import (
	"testing"
	"time"

	"github.com/tenure-go/tenure/internal/clock"
)

// What remains of a term is what the clock leaves that ran furthest, be it the one that counts suspension: a command's
// guard is told by it when to strike.
func TestRemainingHeedsEveryClock(t *testing.T) {
	source := clock.New(nil)
	now := source.Read()
	far := now.Add(time.Hour)
	for name, until := range map[string]clock.Reading{
		"monotonic": {Mono: now.Mono + time.Minute, Wall: far.Wall, Boot: far.Boot},
		"wall":      {Mono: far.Mono, Wall: now.Wall + time.Minute, Boot: far.Boot},
		"boot":      {Mono: far.Mono, Wall: far.Wall, Boot: now.Boot + time.Minute},
	} {
		if name == "boot" && now.Boot == 0 {
			continue // there is no such clock here
		}
		var term trust
		term.clock = &source
		term.extend(until)
		if left := term.remainingOnAll(); left > time.Minute {
			t.Errorf("the %s clock leaves a minute, but %v remain", name, left)
		}
	}
}
