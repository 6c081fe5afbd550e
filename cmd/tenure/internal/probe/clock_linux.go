package probe

import (
	"math"

	"golang.org/x/sys/unix"
)

// Units of the kernel's clock discipline (adjtimex(2)).
const (
	nominalTick = 10_000          // microseconds
	freqUnit    = 1.0 / (1 << 16) // parts per million
)

// Clocks checks whether the rate of this machine's clock is within the bound on which leases rest, a fraction.
func Clocks(bound float64) []Finding {
	var discipline unix.Timex
	if _, err := unix.Adjtimex(&discipline); err != nil {
		return []Finding{found("clock", Note, "the clock's discipline cannot be read: %v", err)}
	}
	ahead := rate(float64(discipline.Tick), float64(discipline.Freq))
	return []Finding{judgeRate(ahead, bound), judgeSynchronised(discipline.Status)}
}

// rate is by which fraction the kernel makes the clock run faster than its hardware does. Daemons that correct a large
// offset without a step, as chrony may after a long outage, do it by this.
func rate(tick, freq float64) float64 { return tick/nominalTick - 1 + freq*freqUnit/1e6 }

func judgeRate(rate, bound float64) Finding {
	const check = "clock-rate"
	if math.Abs(rate) > bound {
		return found(check, Warning, "the clock is made to run %+.2f %% off its rate, beyond the %.2g %% that leases "+
			"allow for: wait until it is corrected, or limit the rate (chrony: maxslewrate)", rate*100, bound*100)
	}
	return found(check, OK, "the clock is made to run %+.4f %% off its rate; leases allow for %.2g %%",
		rate*100, bound*100)
}

func judgeSynchronised(status int32) Finding {
	const check = "clock-sync"
	if status&unix.STA_UNSYNC != 0 {
		return found(check, Note, "the clock is not synchronised: times in records are off, for people to read; "+
			"no decision rests on them")
	}
	return found(check, OK, "the clock is synchronised")
}
