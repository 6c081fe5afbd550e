package sim

import "time"

// random is the source of everything that a history leaves to chance (splitmix64: tiny, fast, and the same on every
// machine and release of Go).
type random struct{ state uint64 }

func (r *random) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	z := r.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Uint64 makes it a source for math/rand/v2.
func (r *random) Uint64() uint64 { return r.next() }

// n returns a number in [0, n).
func (r *random) n(n int) int { return int(r.next() % uint64(n)) }

// share returns a number in [0, 1).
func (r *random) share() float64 { return float64(r.next()>>11) / (1 << 53) }

func (r *random) chance(p float64) bool { return p > 0 && r.share() < p }

// between returns a duration in [low, high].
func (r *random) between(low, high time.Duration) time.Duration {
	if high <= low {
		return low
	}
	return low + time.Duration(r.next()%uint64(high-low+1))
}

// scaled returns d times a number in [low, high).
func (r *random) scaled(d time.Duration, low, high float64) time.Duration {
	return time.Duration(float64(d) * (low + (high-low)*r.share()))
}

func pick[T any](r *random, list ...T) T { return list[r.n(len(list))] }
