package tenureprom

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/tenure-go/tenure/adapters/internal/measure"
)

// vectors keep counters and histograms. They are a [measure.Sink].
type vectors struct {
	counters   map[measure.ID]*prometheus.CounterVec
	histograms map[measure.ID]*prometheus.HistogramVec
}

func newVectors() vectors {
	v := vectors{map[measure.ID]*prometheus.CounterVec{}, map[measure.ID]*prometheus.HistogramVec{}}
	for i, m := range measure.Metrics {
		switch m.Kind {
		case measure.Counter:
			v.counters[measure.ID(i)] = prometheus.NewCounterVec(
				prometheus.CounterOpts{Name: m.Exposed(), Help: m.Help}, m.Labels)
		case measure.Histogram:
			v.histograms[measure.ID(i)] = prometheus.NewHistogramVec(
				prometheus.HistogramOpts{Name: m.Exposed(), Help: m.Help, Buckets: m.Buckets}, m.Labels)
		case measure.Gauge: // read when collected
		}
	}
	return v
}

func (v vectors) each(f func(prometheus.Collector)) {
	for _, c := range v.counters {
		f(c)
	}
	for _, h := range v.histograms {
		f(h)
	}
}

// Add implements [measure.Sink].
func (v vectors) Add(id measure.ID, n float64, labels ...string) {
	v.counters[id].WithLabelValues(labels...).Add(n)
}

// Observe implements [measure.Sink].
func (v vectors) Observe(id measure.ID, value float64, labels ...string) {
	v.histograms[id].WithLabelValues(labels...).Observe(value)
}

// Begin implements [measure.Sink].
func (v vectors) Begin(id measure.ID, labels ...string) { v.histograms[id].WithLabelValues(labels...) }

// Forget implements [measure.Sink].
func (v vectors) Forget(id measure.ID, labels ...string) {
	match := prometheus.Labels{}
	for i, value := range labels {
		match[measure.Metrics[id].Labels[i]] = value
	}
	if c := v.counters[id]; c != nil {
		c.DeletePartialMatch(match)
	}
	if h := v.histograms[id]; h != nil {
		h.DeletePartialMatch(match)
	}
}
