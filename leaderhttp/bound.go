package leaderhttp

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// bound keeps a client from holding up a handler whose work has ended: reads and writes that would wait for the client
// fail once the grace has passed.
type bound struct {
	conn  *http.ResponseController
	grace func() time.Duration

	mu       sync.Mutex
	timer    *time.Timer
	cut      bool
	returned bool
}

// longAgo is a deadline that has passed on every clock.
var longAgo = time.Unix(1, 0)

// serve runs the handler. work is the context that ends with its work, and request the one that ends with the request:
// what the server or an outer handler ends is theirs to finish. If the connection was cut, what was written of the
// answer cannot be relied on, so that the request is aborted.
func (b *bound) serve(work, request context.Context, handler func()) {
	stop := context.AfterFunc(work, func() {
		if request.Err() == nil {
			b.end()
		}
	})
	defer stop()
	defer b.leave()
	handler()
	if b.leave() {
		panic(http.ErrAbortHandler)
	}
}

// end begins the grace.
func (b *bound) end() {
	grace := b.grace()
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.returned {
		b.timer = time.AfterFunc(grace, b.cutOff)
	}
}

// cutOff ends the grace. It does nothing once the handler has returned: the connection then serves another request.
func (b *bound) cutOff() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.returned {
		return
	}
	// A writer without deadlines has no connection that could hold the handler up.
	b.cut = b.conn.SetReadDeadline(longAgo) == nil
	b.cut = b.conn.SetWriteDeadline(longAgo) == nil || b.cut
}

// leave says that the handler has returned, and reports whether it was cut off before.
func (b *bound) leave() (cut bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.returned = true
	if b.timer != nil {
		b.timer.Stop()
	}
	return b.cut
}
