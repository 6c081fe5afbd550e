package tenure

import (
	"context"
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
	if c.config.logger.Enabled(context.Background(), slog.LevelDebug) {
		c.config.logger.Debug("decision", "input", describeInput(in.Kind, in.Outcome),
			"effect", describeEffect(e.Do, e.Purpose), "token", e.Token, "reason", e.Reason)
	}
}

// eventLevels are the levels of events that are not merely informative.
var eventLevels = map[EventKind]slog.Level{
	EventRenewed: slog.LevelDebug, EventLeaderChanged: slog.LevelDebug, EventStoreFailed: slog.LevelWarn,
	EventOverran: slog.LevelError,
}

func (c *Candidate) logEvent(e Event) {
	level := eventLevels[e.Kind] // info is the zero level
	if !c.config.logger.Enabled(context.Background(), level) {
		return
	}
	attrs := []slog.Attr{slog.Uint64("token", e.Token), slog.String("reason", e.Reason)}
	if e.Leader != "" {
		attrs = append(attrs, slog.String("leader", e.Leader))
	}
	if e.Err != nil {
		attrs = append(attrs, slog.Any("error", e.Err))
	}
	c.config.logger.LogAttrs(context.Background(), level, e.Kind.String(), attrs...)
}
