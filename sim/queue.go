package sim

import "time"

// event is something that will happen. What node, arg and gen mean depends on the kind.
type event struct {
	at   time.Duration
	seq  uint32 // events of one instant happen in the order in which they were scheduled
	arg  int32
	gen  uint32 // of a timer: it is void if another was set since
	kind eventKind
	node int8
	flag bool
}

func (e *event) before(other *event) bool {
	return e.at < other.at || e.at == other.at && e.seq < other.seq
}

// queue is a binary heap of events.
type queue struct {
	heap []event
	seq  uint32
}

func (q *queue) reset() { q.heap, q.seq = q.heap[:0], 0 }

func (q *queue) push(e event) {
	q.seq++
	e.seq = q.seq
	q.heap = append(q.heap, e)
	h, i := q.heap, len(q.heap)-1
	for i > 0 {
		parent := (i - 1) / 2
		if !e.before(&h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
}

func (q *queue) pop() event {
	h := q.heap
	first, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	q.heap = h
	if len(h) == 0 {
		return first
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1].before(&h[child]) {
			child++
		}
		if !h[child].before(&last) {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = last
	return first
}
