package tenure

import "sync"

// maxQueued bounds what is kept for a function that does not keep up. Beyond it the oldest are dropped.
const maxQueued = 256

// queue passes things on to a function of the user's, in order, on a goroutine that lives only while there is something
// to pass on. The function may block, panic, or end its goroutine: who puts something in never waits for it.
type queue[T any] struct {
	tell func(T)
	lost func(n int) // told, before what comes next, that so many were dropped

	mu      sync.Mutex
	pending []T
	dropped int
	idle    chan struct{} // closed when there is nothing left to pass on; nil if there is nothing
}

func (q *queue[T]) put(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.pending) == maxQueued {
		q.pending = append(q.pending[:0], q.pending[1:]...)
		q.dropped++
	}
	q.pending = append(q.pending, item)
	if q.idle == nil {
		q.idle = make(chan struct{})
		go q.run(q.idle)
	}
}

// run goes on with another goroutine if the function has ended this one.
func (q *queue[T]) run(idle chan struct{}) {
	empty := false
	defer func() {
		if !empty {
			go q.run(idle)
		}
	}()
	for !empty {
		empty = q.pass()
	}
	close(idle)
}

// pass tells the next thing, and reports whether there was none.
func (q *queue[T]) pass() (empty bool) {
	item, dropped, ok := q.next()
	if ok {
		defer q.tell(item) // even if lost does not return
	}
	if dropped > 0 {
		q.lost(dropped)
	}
	return !ok
}

func (q *queue[T]) next() (item T, dropped int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	dropped, q.dropped = q.dropped, 0
	if len(q.pending) == 0 {
		q.pending, q.idle = nil, nil
		return item, dropped, false
	}
	item = q.pending[0]
	q.pending = q.pending[1:]
	return item, dropped, true
}

// drained returns a channel that is closed once everything put in so far was told.
func (q *queue[T]) drained() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.idle == nil {
		return closed
	}
	return q.idle
}

// closed is ready at once, for whoever has nothing to wait for.
var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()
