package dualleader

import "sync"

// register is a linearizable register with compare-and-swap. Versions never recur.
type register[T any] struct {
	mu       sync.Mutex
	version  uint64 // of the present state; what is missing has one too
	exists   bool
	value    T
	watchers map[int]func(T, uint64)
	watched  int
}

func newRegister[T any]() *register[T] { return &register[T]{watchers: map[int]func(T, uint64){}} }

// load returns the value and its version, zero if there is none.
func (r *register[T]) load() (T, uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state()
}

func (r *register[T]) state() (T, uint64) {
	if !r.exists {
		var none T
		return none, 0
	}
	return r.value, r.version
}

// swap writes a value if the version is still old, zero for none.
func (r *register[T]) swap(old uint64, value T) (version uint64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, present := r.state(); present != old {
		return 0, false
	}
	r.set(value, true)
	return r.version, true
}

func (r *register[T]) set(value T, exists bool) {
	r.version++
	r.value, r.exists = value, exists
	value, version := r.state()
	for _, deliver := range r.watchers {
		deliver(value, version)
	}
}

// remove deletes the value.
func (r *register[T]) remove() {
	r.mu.Lock()
	defer r.mu.Unlock()
	var none T
	r.set(none, false)
}

// backup returns what restores the present value.
func (r *register[T]) backup() func() {
	r.mu.Lock()
	defer r.mu.Unlock()
	value, exists := r.value, r.exists
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.set(value, exists)
	}
}

// watch has deliver called with the present state and every later one, within the change itself.
func (r *register[T]) watch(deliver func(T, uint64)) (stop func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watched++
	id := r.watched
	r.watchers[id] = deliver
	deliver(r.state())
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.watchers, id)
	}
}
