package sim

import (
	"time"

	"github.com/tenure-go/tenure/internal/clock"
)

// clocks are those of one machine as a function of true time: linear between changes.
type clocks struct {
	since time.Duration // true time of base
	base  clock.Reading
	// The errors of the rates, in millionths: a clock that shows 1.01 s in a second errs by 10,000.
	mono, wall, boot int64

	grain     time.Duration // of which every reading is a whole multiple, zero if it is exact
	noBoot    bool          // the system has no clock that counts suspension
	suspended bool          // the monotonic clock stands
	frozen    bool          // all clocks stand
}

const millionth = 1_000_000

// run returns what a clock that errs by ppm shows of d. Multiplied out in integers, in two parts: d may be weeks.
func run(d time.Duration, ppm int64) time.Duration {
	return d + d/millionth*time.Duration(ppm) + d%millionth*time.Duration(ppm)/millionth
}

// read returns the reading at true time t, which is not before the last change.
func (c *clocks) read(t time.Duration) clock.Reading {
	r := c.exact(t)
	if c.grain > 0 {
		r.Mono, r.Wall, r.Boot = r.Mono.Truncate(c.grain), r.Wall.Truncate(c.grain), r.Boot.Truncate(c.grain)
	}
	return r
}

// exact returns what the clocks would show if they were infinitely fine.
func (c *clocks) exact(t time.Duration) clock.Reading {
	r, d := c.base, t-c.since
	if c.frozen {
		return r
	}
	if !c.suspended {
		r.Mono += run(d, c.mono)
	}
	r.Wall += run(d, c.wall)
	if !c.noBoot {
		r.Boot += run(d, c.boot)
	}
	return r
}

// rebase makes t the origin, so that the parameters can be changed from there on.
func (c *clocks) rebase(t time.Duration) { c.base, c.since = c.exact(t), t }

// farAway is longer than any history, and short enough to be multiplied by a rate.
const farAway = 1000 * time.Hour

// whenMono returns the first instant, from t on, at which the monotonic clock shows at least mono, as long as nothing
// changes; false if it stands.
func (c *clocks) whenMono(t, mono time.Duration) (time.Duration, bool) {
	if c.suspended || c.frozen {
		return 0, false
	}
	if c.grain > 0 && mono > 0 {
		mono = (mono + c.grain - 1).Truncate(c.grain)
	}
	left := min(mono-c.base.Mono, farAway)
	d := time.Duration(int64(left) / (millionth + c.mono) * millionth)
	d += time.Duration(int64(left) % (millionth + c.mono) * millionth / (millionth + c.mono))
	for run(d, c.mono) < left {
		d++
	}
	for d > 0 && run(d-1, c.mono) >= left {
		d--
	}
	return max(t, c.since+d), true
}
