package tenure

import (
	"context"
	"log/slog"
	"time"
)

// journal hands lines to the user's log handler, which may block, as it does on a full pipe: nobody who logs is ever
// waited for. It is nil where there is no logger.
type journal struct {
	queue[line]

	handler slog.Handler
}

// line is a line of the log, whose attributes are made only if the handler wants them.
type line struct {
	at    time.Time
	level slog.Level
	text  string
	attrs func() []any
}

func newJournal(l *slog.Logger, attrs ...any) *journal {
	if l == nil {
		return nil
	}
	j := &journal{handler: l.With(attrs...).Handler()}
	j.tell = j.handle
	j.lost = func(n int) {
		j.handle(line{time.Now(), slog.LevelWarn, "the log is too slow; lines were dropped", func() []any {
			return []any{"dropped", n}
		}})
	}
	return j
}

// write logs a line with attributes that take nothing to make.
func (j *journal) write(level slog.Level, text string, attrs ...any) {
	if j != nil {
		j.add(time.Now(), level, text, func() []any { return attrs })
	}
}

func (j *journal) add(at time.Time, level slog.Level, text string, attrs func() []any) {
	j.put(line{at, level, text, attrs})
}

// handle drops a line that the handler panics over: there is nowhere else to say so.
func (j *journal) handle(l line) {
	defer func() { _ = recover() }()
	ctx := context.Background()
	if !j.handler.Enabled(ctx, l.level) {
		return
	}
	r := slog.NewRecord(l.at, l.level, l.text, 0)
	r.Add(l.attrs()...)
	_ = j.handler.Handle(ctx, r)
}

func (j *journal) drained() <-chan struct{} {
	if j == nil {
		return closed
	}
	return j.queue.drained()
}
