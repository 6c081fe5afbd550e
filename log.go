package tenure

import (
	"log/slog"
	"time"

	"github.com/tenure-go/tenure/internal/protocol"
)

// note remembers a decision. The caller holds c.mu.
func (c *Candidate) note(in protocol.Input, e protocol.Effect) {
	d := decision{
		at: time.Now().UnixNano(), token: e.Token, reason: e.Reason,
		input: in.Kind, outcome: in.Outcome, effect: e.Do, purpose: e.Purpose,
	}
	c.history.add(d)
}

// logDecision logs a decision at debug level.
func (c *Candidate) logDecision(in protocol.Input, e protocol.Effect) {
	if c.log == nil {
		return
	}
	kind, result, do, purpose, token, reason := in.Kind, in.Outcome, e.Do, e.Purpose, e.Token, e.Reason
	c.log.add(time.Now(), slog.LevelDebug, "decision", func() []any {
		return []any{
			"input", describeInput(kind, result), "effect", describeEffect(do, purpose), "token", token, "reason", reason,
		}
	})
}

// eventLevels are the levels of events that are not merely informative.
var eventLevels = map[EventKind]slog.Level{
	EventRenewed: slog.LevelDebug, EventLeaderChanged: slog.LevelDebug, EventStoreFailed: slog.LevelWarn,
	EventOverran: slog.LevelError, EventCopied: slog.LevelWarn,
}

// logEvent logs an event, at level info unless eventLevels says otherwise.
func (c *Candidate) logEvent(e Event) {
	if c.log != nil {
		c.log.add(e.At, eventLevels[e.Kind], e.Kind.String(), func() []any { return eventAttrs(e) })
	}
}

func eventAttrs(e Event) []any {
	attrs := []any{"token", e.Token, "reason", e.Reason}
	if e.Leader != "" {
		attrs = append(attrs, "leader", e.Leader)
	}
	if e.Err != nil {
		attrs = append(attrs, "error", e.Err)
	}
	return attrs
}
