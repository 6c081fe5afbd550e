package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tenure-go/tenure/integration/internal/check"
	"github.com/tenure-go/tenure/integration/internal/history"
)

// chart is how many requests a process sent, over time.
type chart struct {
	Name, Title string
	// Path is that of an area in a box of 1000 by 100.
	Path string
}

// rate is how often a process asked in a time.
type rate struct {
	check.Span
	perSecond float64
}

// charts have one scale, so that they can be compared.
func (d drawing) charts() (out []chart) {
	rates := map[string][]rate{}
	for _, l := range d.run.Lives {
		for i := 1; i < len(l.Counts); i++ {
			before, now := l.Counts[i-1], l.Counts[i]
			span := check.Span{From: before.At, To: now.At}
			sent := float64(now.Sent() - before.Sent())
			rates[l.Process] = append(rates[l.Process], rate{span, sent / max(time.Millisecond, span.Length()).Seconds()})
		}
	}
	top := 1.0
	for _, all := range rates {
		for _, r := range all {
			top = max(top, r.perSecond)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rates)) {
		highest := slices.MaxFunc(rates[name], func(a, b rate) int { return int(1000 * (a.perSecond - b.perSecond)) })
		out = append(out, chart{
			Name: name, Title: fmt.Sprintf("%s, at most %.1f requests a second", name, highest.perSecond),
			Path: d.area(rates[name], top),
		})
	}
	return out
}

func (d drawing) area(rates []rate, top float64) string {
	var b strings.Builder
	x := func(at history.Instant) float64 { return 10 * d.share(at) }
	for _, r := range rates {
		height := 100 - 100*math.Sqrt(r.perSecond/top) // the root, or a storm would flatten all else
		fmt.Fprintf(&b, "M%.2f 100V%.1fH%.2fV100z", x(r.From), height, x(r.To))
	}
	return b.String()
}
