package tenureotel

import (
	"context"

	"github.com/tenure-go/tenure/adapters/internal/measure"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// instruments are a [measure.Sink].
type instruments struct {
	counters   map[measure.ID]metric.Float64Counter
	histograms map[measure.ID]metric.Float64Histogram
	gauges     map[measure.ID]metric.Float64ObservableGauge
}

func newInstruments(meter metric.Meter) (*instruments, error) {
	in := &instruments{
		map[measure.ID]metric.Float64Counter{},
		map[measure.ID]metric.Float64Histogram{},
		map[measure.ID]metric.Float64ObservableGauge{},
	}
	for i, m := range measure.Metrics {
		if err := in.add(meter, measure.ID(i), m); err != nil {
			return nil, err
		}
	}
	return in, nil
}

func (in *instruments) add(meter metric.Meter, id measure.ID, m measure.Metric) (err error) {
	unit, help := metric.WithUnit(m.Unit), metric.WithDescription(m.Help)
	switch m.Kind {
	case measure.Counter:
		in.counters[id], err = meter.Float64Counter(m.Name, unit, help)
	case measure.Histogram:
		in.histograms[id], err = meter.Float64Histogram(m.Name, unit, help,
			metric.WithExplicitBucketBoundaries(m.Buckets...))
	case measure.Gauge:
		in.gauges[id], err = meter.Float64ObservableGauge(m.Name, unit, help)
	}
	return err
}

// attributes are a metric's labels with these values.
func attributes(id measure.ID, labels []string) metric.MeasurementOption {
	pairs := make([]attribute.KeyValue, len(labels))
	for i, value := range labels {
		pairs[i] = attribute.String(measure.Metrics[id].Labels[i], value)
	}
	return metric.WithAttributeSet(attribute.NewSet(pairs...))
}

// Add implements [measure.Sink].
func (in *instruments) Add(id measure.ID, n float64, labels ...string) {
	in.counters[id].Add(context.Background(), n, attributes(id, labels))
}

// Observe implements [measure.Sink].
func (in *instruments) Observe(id measure.ID, value float64, labels ...string) {
	in.histograms[id].Record(context.Background(), value, attributes(id, labels))
}

// Begin implements [measure.Sink]. An empty histogram cannot be made known.
func (*instruments) Begin(measure.ID, ...string) {}

// Forget implements [measure.Sink]. OpenTelemetry forgets nothing.
func (*instruments) Forget(measure.ID, ...string) {}

func (in *instruments) observables() []metric.Observable {
	all := make([]metric.Observable, 0, len(in.gauges))
	for _, g := range in.gauges {
		all = append(all, g)
	}
	return all
}

// observe returns what reports a gauge to o.
func (in *instruments) observe(o metric.Observer) func(measure.ID, float64, ...string) {
	return func(id measure.ID, value float64, labels ...string) {
		o.ObserveFloat64(in.gauges[id], value, attributes(id, labels))
	}
}
