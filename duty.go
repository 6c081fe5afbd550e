package tenure

import (
	"context"
	"sync/atomic"
)

// duty is one piece of leader work: a function, or a Leadership. Its context names it, so that work which asks for the
// end of its own term is told from others, who can wait for that.
type duty struct {
	over  atomic.Bool
	outer *duty // that within which it began, nil if none
}

// dutyOf is the key under which a context has its duty to a candidate.
type dutyOf struct{ c *Candidate }

// onDuty returns a context for leader work, and the duty that is to be marked as over when the work is.
func (c *Candidate) onDuty(ctx context.Context) (context.Context, *duty) {
	outer, _ := ctx.Value(dutyOf{c}).(*duty)
	d := &duty{outer: outer}
	return context.WithValue(ctx, dutyOf{c}, d), d
}

// works reports whether ctx is that of leader work of this candidate which is not over.
func (c *Candidate) works(ctx context.Context) bool {
	for d, _ := ctx.Value(dutyOf{c}).(*duty); d != nil; d = d.outer {
		if !d.over.Load() {
			return true
		}
	}
	return false
}

func (d *duty) end() { d.over.Store(true) }
