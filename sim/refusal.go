package sim

import (
	"math"
	"time"

	"github.com/tenure-go/tenure/internal/protocol"
)

// checkRefusals is S12: Config.Check has to accept exactly what is safe, by a count of the referee's own. It is asked
// about configurations near the border, most of them just beyond it.
func (w *World) checkRefusals() {
	r := &w.random
	for i := range w.plan.Nodes {
		w.checkRefusal(w.plan.Nodes[i].Config)
	}
	c := w.plan.Nodes[0].Config
	change := pick(r, -time.Millisecond, 0, time.Millisecond)
	switch r.n(10) {
	case 0:
		c.CallTimeout = (leaseSpan(c)-c.Drain-c.RenewEvery)/2 + change
	case 1:
		c.Drain = leaseSpan(c) - c.RenewEvery - 2*c.CallTimeout + change
	case 2:
		c.PollEvery = c.TTL + change
	case 3:
		c.ClockError = pick(r, -0.001, 0, protocol.MaxClockError, protocol.MaxClockError+0.001, math.NaN())
	case 4:
		c.RenewEvery = leaseSpan(c) - c.Drain - 2*c.CallTimeout + change
	case 5:
		*pick(r, &c.TTL, &c.RenewEvery, &c.PollEvery, &c.CallTimeout) = pick(r, 0, -time.Second)
	case 6:
		*pick(r, &c.Drain, &c.Grain, &c.PriorityDelay, &c.BidSpread) = -time.Nanosecond
	case 7:
		c.Backoff = protocol.Backoff{
			Initial: pick(r, 0, -1, time.Second), Max: pick(r, time.Millisecond, time.Second),
			Factor: pick(r, 0.9, 1, 2, math.NaN(), math.Inf(1)), Jitter: pick(r, -0.1, 0, 1, 1.1, math.NaN()),
		}
	case 8:
		c.MaxFailures = pick(r, -1, 0, 1)
	case 9:
		c.Drain = min(c.TTL/100, 10*time.Millisecond) + change
	}
	w.checkRefusal(c)
}

func (w *World) checkRefusal(c protocol.Config) {
	if err := c.Check(); (err == nil) != safe(c) {
		w.fail(S12, -1, "%+v: safe is %v, the verdict is %v", c, safe(c), err)
	}
}

// safe is the referee's own count of what the protocol needs.
func safe(c protocol.Config) bool {
	positive := c.TTL > 0 && c.RenewEvery > 0 && c.PollEvery > 0 && c.CallTimeout > 0 && c.Backoff.Initial > 0
	bounded := c.Drain >= min(c.TTL/100, 10*time.Millisecond) && c.TTL <= maxTTL
	others := bounded && c.Grain >= 0 && c.PriorityDelay >= 0 && c.BidSpread >= 0 && c.MaxFailures >= 0
	if !positive || !others || !(c.ClockError >= 0) || c.ClockError > protocol.MaxClockError {
		return false
	}
	b := c.Backoff
	spaced := b.Max >= b.Initial && b.Factor >= 1 && b.Factor <= math.MaxFloat64 && b.Jitter >= 0 && b.Jitter <= 1
	return spaced && c.PollEvery <= c.TTL && c.RenewEvery+2*c.CallTimeout+c.Drain <= leaseSpan(c)
}
