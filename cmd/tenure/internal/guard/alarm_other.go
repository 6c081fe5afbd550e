//go:build !linux

package guard

import "time"

// alarm wakes a loop at an instant, or earlier. Go's timers stand still while the machine is suspended, so it never
// sleeps long: the loop compares with the clock and sets it again.
type alarm struct {
	timer *time.Timer
	C     <-chan time.Time
}

func newAlarm() (*alarm, error) {
	timer := time.NewTimer(time.Hour)
	return &alarm{timer: timer, C: timer.C}, nil
}

// set moves the alarm. An instant that has passed rings at once.
func (a *alarm) set(at Instant) {
	left := max(at.Sub(Now()), 0)
	slice := min(max(left/20, 10*time.Millisecond), 500*time.Millisecond)
	a.timer.Reset(min(left, slice))
}

func (a *alarm) close() { a.timer.Stop() }
