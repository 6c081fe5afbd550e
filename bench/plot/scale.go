package plot

import (
	"fmt"
	"math"
	"strings"
)

// scale maps values onto a share of an axis, from 0 to 1.
type scale struct {
	min, max float64
	log      bool
}

// newScale covers the values, from zero unless it is logarithmic.
func newScale(a Axis, values []float64) scale {
	s := scale{max: a.Max, log: a.Log}
	for _, v := range values {
		if a.Max == 0 {
			s.max = math.Max(s.max, v)
		}
		if v > 0 && (s.min == 0 || v < s.min) {
			s.min = v
		}
	}
	if s.max <= 0 {
		s.max = 1
	}
	if !s.log {
		s.min = 0
		return s
	}
	if s.min == 0 || s.min >= s.max {
		s.min = s.max / 10
	}
	s.min = math.Pow(10, math.Floor(math.Log10(s.min)))
	return s
}

// span makes the axis begin at the smallest value rather than at zero, or at a power of ten.
func (s scale) span(values []float64) scale {
	s.min = math.Inf(1)
	for _, v := range values {
		s.min = math.Min(s.min, v)
	}
	return s
}

func (s scale) at(v float64) float64 {
	share := (v - s.min) / (s.max - s.min)
	if s.log {
		share = math.Log(math.Max(v, s.min)/s.min) / math.Log(s.max/s.min)
	}
	return math.Min(math.Max(share, 0), 1)
}

// ticks are round values on the axis.
func (s scale) ticks() []float64 {
	var ticks []float64
	if s.log {
		for v := math.Pow(10, math.Ceil(math.Log10(s.min)-1e-9)); v <= s.max*1.0001; v *= 10 {
			ticks = append(ticks, v)
		}
		return ticks
	}
	step := math.Pow(10, math.Floor(math.Log10(s.max)))
	for _, part := range []float64{1, 0.5, 0.25, 0.2} {
		if s.max/(step*part) >= 3 {
			step *= part
			break
		}
	}
	for v := math.Ceil(s.min/step) * step; v <= s.max*1.0001; v += step {
		ticks = append(ticks, v)
	}
	return ticks
}

// number prints a value as people write it.
func number(v float64) string {
	switch size := math.Abs(v); {
	case size >= 1e6:
		return trim(v/1e6) + "M"
	case size >= 1e4:
		return trim(v/1e3) + "k"
	}
	return trim(v)
}

// trim keeps three digits that mean something.
func trim(v float64) string {
	decimals := 0
	if size := math.Abs(v); size > 0 && size < 100 {
		decimals = min(4, 2-int(math.Floor(math.Log10(size))))
	}
	text := fmt.Sprintf("%.*f", decimals, v)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}
