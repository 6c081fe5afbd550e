package clock

import "time"

// Source reads the clocks of one candidate. The zero Source is not usable; see New.
type Source struct {
	origin time.Time
	read   func() (mono, wall time.Duration)
}

// New returns a source that reads the system's clocks, or those that read stands for.
func New(read func() (mono, wall time.Duration)) Source {
	return Source{origin: time.Now(), read: read}
}

// Now reads the clocks that cost no system call. It is what every question for leadership costs.
func (s *Source) Now() (mono, wall time.Duration) {
	if s.read != nil {
		return s.read()
	}
	now := time.Now()
	return now.Sub(s.origin), time.Duration(now.UnixNano())
}

// Read reads all clocks, the one that counts suspension too where the system has it.
func (s *Source) Read() Reading {
	mono, wall := s.Now()
	if s.read != nil {
		return Reading{Mono: mono, Wall: wall}
	}
	return Reading{Mono: mono, Wall: wall, Boot: boot()}
}
