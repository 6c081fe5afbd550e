package dualleader

import (
	"sync"
	"time"
)

// push delivers values one after the other, each after the network's latency, and none while nothing arrives.
type push[T any] struct {
	link    *Link
	deliver func(T)
	bell    chan struct{}
	quit    chan struct{}
	done    chan struct{}

	mu    sync.Mutex
	queue []T
}

func newPush[T any](link *Link, deliver func(T)) *push[T] {
	p := &push[T]{
		link: link, deliver: deliver,
		bell: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
	}
	go p.run()
	return p
}

// send does not wait.
func (p *push[T]) send(value T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue = append(p.queue, value)
	select {
	case p.bell <- struct{}{}:
	default:
	}
}

func (p *push[T]) run() {
	defer close(p.done)
	for {
		select {
		case <-p.bell:
		case <-p.quit:
			return
		}
		for _, value := range p.take() {
			time.Sleep(p.link.latency())
			p.link.Frozen()
			if !p.link.Silent() {
				p.deliver(value)
			}
		}
	}
}

func (p *push[T]) take() []T {
	p.mu.Lock()
	defer p.mu.Unlock()
	queue := p.queue
	p.queue = nil
	return queue
}

// stop returns when nothing is delivered any more.
func (p *push[T]) stop() {
	close(p.quit)
	<-p.done
}
