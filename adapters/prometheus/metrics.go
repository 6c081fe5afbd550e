package tenureprom

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/adapters/internal/measure"
)

// Metrics is a [prometheus.Collector] of what candidates do. All methods are safe for concurrent use.
type Metrics struct {
	recorder *measure.Recorder
	vectors  vectors
	gauges   map[measure.ID]*prometheus.Desc
}

// New returns a collector that measures nobody yet. Register it once.
func New() *Metrics {
	m := &Metrics{vectors: newVectors(), gauges: map[measure.ID]*prometheus.Desc{}}
	for i, metric := range measure.Metrics {
		if metric.Kind == measure.Gauge {
			m.gauges[measure.ID(i)] = prometheus.NewDesc(metric.Exposed(), metric.Help, metric.Labels, nil)
		}
	}
	m.recorder = measure.NewRecorder(m.vectors)
	return m
}

// Store returns a store that measures the calls to store, and how long hand-overs take as they are seen through it. It
// is for candidates: of the store's optional interfaces it has those that they use ([tenure.Watcher] only if store
// has). Without it there is no tenure_store_call_duration_seconds, and nothing in tenure_handover_duration_seconds.
func (m *Metrics) Store(store tenure.Store) tenure.Store { return measure.Wrap(store, m.recorder) }

// Observe returns the option that lets m see the events of a candidate. What happens before [Metrics.Add] is not
// counted.
func (m *Metrics) Observe() tenure.Option { return tenure.WithObserver(m.recorder.Event) }

// Add begins to measure a candidate that was made with the option of [Metrics.Observe]. Call it before the candidate
// starts. The error wraps [tenure.ErrConfig] if another candidate of the same election and ID is measured.
func (m *Metrics) Add(c *tenure.Candidate) error { return m.recorder.Add(c) }

// Remove drops a candidate and its series, for programs whose elections come and go. One that is not measured is
// ignored.
func (m *Metrics) Remove(c *tenure.Candidate) { m.recorder.Remove(c) }

// Describe implements [prometheus.Collector].
func (m *Metrics) Describe(descs chan<- *prometheus.Desc) {
	for _, desc := range m.gauges {
		descs <- desc
	}
	m.vectors.each(func(c prometheus.Collector) { c.Describe(descs) })
}

// Collect implements [prometheus.Collector].
func (m *Metrics) Collect(out chan<- prometheus.Metric) {
	m.recorder.Gauges(func(id measure.ID, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(m.gauges[id], prometheus.GaugeValue, value, labels...)
	})
	m.vectors.each(func(c prometheus.Collector) { c.Collect(out) })
}
