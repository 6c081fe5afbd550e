package dualleader

import (
	"sync"
	"time"
)

// push delivers values one after the other, each after the network's latency, and none while nothing arrives. It has a
// goroutine only while there is something to deliver: at rest a subscription must not weigh more than what the library
// has for it.
type push[T any] struct {
	link    *Link
	deliver func(T)

	delivering sync.WaitGroup

	mu      sync.Mutex
	queue   []T
	busy    bool // whether a goroutine delivers
	stopped bool
}

func newPush[T any](link *Link, deliver func(T)) *push[T] {
	return &push[T]{link: link, deliver: deliver}
}

// send does not wait.
func (p *push[T]) send(value T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return
	}
	p.queue = append(p.queue, value)
	if !p.busy {
		p.busy = true
		p.delivering.Go(p.run)
	}
}

func (p *push[T]) run() {
	for value, ok := p.take(); ok; value, ok = p.take() {
		time.Sleep(p.link.latency())
		p.link.Frozen()
		if !p.link.Silent() {
			p.deliver(value)
		}
	}
}

// take returns the next value; without one the goroutine that asks has nothing more to do.
func (p *push[T]) take() (value T, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 || p.stopped {
		p.queue, p.busy = nil, false
		return value, false
	}
	value, p.queue = p.queue[0], p.queue[1:]
	return value, true
}

// stop returns when nothing is delivered any more.
func (p *push[T]) stop() {
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
	p.delivering.Wait()
}
