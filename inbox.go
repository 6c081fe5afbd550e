package tenure

import (
	"sync"

	"github.com/tenure-go/tenure/internal/protocol"
)

// message is an input for the machine, with the error behind it.
type message struct {
	input protocol.Input
	err   error
}

// inbox is how everybody else reaches a candidate's goroutine. Nobody ever waits to put something in; of what the
// watch pushes only the last is kept.
type inbox struct {
	mu    sync.Mutex
	queue []message
	bell  chan struct{} // holds one ring at most
}

func (b *inbox) post(m message) {
	b.mu.Lock()
	if n := len(b.queue); m.input.Kind == protocol.Pushed && n > 0 && b.queue[n-1].input.Kind == protocol.Pushed {
		b.queue[n-1] = m
	} else {
		b.queue = append(b.queue, m)
	}
	b.mu.Unlock()
	b.ring()
}

// ring wakes the goroutine though there may be nothing for it in the queue.
func (b *inbox) ring() {
	select {
	case b.bell <- struct{}{}:
	default:
	}
}

// clear forgets what was left over from an earlier stint.
func (b *inbox) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue = nil
}

func (b *inbox) take() (message, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		b.queue = nil
		return message{}, false
	}
	m := b.queue[0]
	b.queue = b.queue[1:]
	return m, true
}
