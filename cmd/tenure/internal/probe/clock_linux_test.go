package probe

import (
	"math"
	"testing"
)

func TestRateOfTheClock(t *testing.T) {
	for _, c := range []struct {
		tick, freq float64
		rate       float64
		result     Result
	}{
		{10_000, 0, 0, OK},
		{10_000, 100 * 65536, 100e-6, OK},   // a crystal that is 100 ppm off
		{10_000, -500 * 65536, -500e-6, OK}, // the most that the frequency alone can do
		{10_090, 0, 0.009, OK},
		{10_110, 0, 0.011, Warning},            // chrony slews a large offset
		{9_167, 500 * 65536, -0.0828, Warning}, // as fast as it does by default
		{10_099, 200 * 65536, 0.0101, Warning}, // both together
		{10_101, -200 * 65536, 0.0099, OK},
	} {
		got := rate(c.tick, c.freq)
		if math.Abs(got-c.rate) > 1e-9 || judgeRate(got, 0.01).Result != c.result {
			t.Errorf("tick %v, frequency %v: got %v, %+v", c.tick, c.freq, got, judgeRate(got, 0.01))
		}
	}
}

func TestClocksCanBeRead(t *testing.T) {
	if findings := Clocks(0.01); len(findings) == 0 || findings[0].Check != "clock-rate" {
		t.Errorf("got %+v", findings)
	}
}
