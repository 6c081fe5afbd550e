package tenure

import "sync"

// strays counts the calls to the store that were given up and have not returned.
type strays struct {
	mu   sync.Mutex
	n    int
	none chan struct{} // closed when the last has returned; nil if there is none
}

func (s *strays) out() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.n++; s.none == nil {
		s.none = make(chan struct{})
	}
}

func (s *strays) back() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.n--; s.n == 0 {
		close(s.none)
		s.none = nil
	}
}

func (s *strays) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

// gone returns a channel that is closed once none is left.
func (s *strays) gone() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.none == nil {
		return closed
	}
	return s.none
}
