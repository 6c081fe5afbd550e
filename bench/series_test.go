package bench

import (
	"math"
	"testing"
	"time"
)

func TestPercentileIsByNearestRank(t *testing.T) {
	var s Series
	for i := range 200 {
		s = append(s, time.Duration(200-i))
	}
	for _, c := range []struct {
		p    float64
		want time.Duration
	}{{0, 1}, {50, 100}, {99, 198}, {100, 200}} {
		if got := s.Percentile(c.p); got != c.want {
			t.Errorf("percentile %v is %v, want %v", c.p, got, c.want)
		}
	}
	if s[0] != 200 {
		t.Error("the series was sorted in place")
	}
	if got := (Series{}).Median(); got != 0 {
		t.Errorf("the median of nothing is %v", got)
	}
}

func TestRatio(t *testing.T) {
	if got := Ratio(3*time.Second, 2*time.Second); got != 1.5 {
		t.Errorf("3 s are %v times 2 s", got)
	}
	if got := Ratio(time.Second, 0); !math.IsNaN(got) {
		t.Errorf("a ratio to nothing is %v", got)
	}
}

func TestWritersRatioIsTheMedianOfTheRounds(t *testing.T) {
	w := Writers{Writes: []float64{100, 900, 300}, Renewals: []float64{100, 100, 100}}
	if got := w.Ratio(); got != 3 {
		t.Errorf("a renewal costs %v writes, want 3", got)
	}
}

func TestNumberHasThreeDigits(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 0.123: "0.12", 1.005: "1.00", 12.34: "12.3", 1234.5: "1234", math.Inf(1): None,
	} {
		if got := Number(x); got != want {
			t.Errorf("%v is printed as %q, want %q", x, got, want)
		}
	}
	if got := pair(Series{time.Second, 3 * time.Second}, 2*time.Second); got != "0.50 / 1.50" {
		t.Errorf("the pair is %q", got)
	}
}
