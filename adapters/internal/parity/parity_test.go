package parity

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/tenure-go/tenure"
	tenureotel "github.com/tenure-go/tenure/adapters/otel"
	tenureprom "github.com/tenure-go/tenure/adapters/prometheus"
	"github.com/tenure-go/tenure/memory"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
)

// family is what a metric is, as a scrape shows it.
type family struct {
	help   string
	kind   dto.MetricType
	series map[string]float64 // of histograms the counts
	bounds []float64
	labels []string
}

// gather returns the families of tenure, by name.
func gather(t *testing.T, registry *prometheus.Registry) map[string]family {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]family{}
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "tenure_") {
			continue
		}
		one := family{help: f.GetHelp(), kind: f.GetType(), series: map[string]float64{}}
		for _, m := range f.GetMetric() {
			one.add(m)
		}
		out[f.GetName()] = one
	}
	return out
}

func (f *family) add(m *dto.Metric) {
	var pairs, labels []string
	for _, l := range m.GetLabel() {
		if strings.HasPrefix(l.GetName(), "otel_scope_") {
			continue // which the exporter adds to everything
		}
		pairs = append(pairs, l.GetName()+"="+l.GetValue())
		labels = append(labels, l.GetName())
	}
	slices.Sort(pairs)
	slices.Sort(labels)
	f.labels = labels
	f.series[strings.Join(pairs, ",")] = m.GetGauge().GetValue() + m.GetCounter().GetValue() +
		float64(m.GetHistogram().GetSampleCount())
	if h := m.GetHistogram(); h != nil {
		f.bounds = nil
		for _, b := range h.GetBucket() {
			if b.GetUpperBound() < 1e9 { // not +Inf, which one of them leaves out
				f.bounds = append(f.bounds, b.GetUpperBound())
			}
		}
	}
}

// measured are the metrics of the same candidates by both adapters, after a story in which every metric is used.
func measured(t *testing.T) (byPrometheus, byOTel map[string]family) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		own, other := prometheus.NewRegistry(), prometheus.NewRegistry()
		metrics := tenureprom.New()
		own.MustRegister(metrics)
		exporter, err := otelprom.New(otelprom.WithRegisterer(other))
		if err != nil {
			t.Fatal(err)
		}
		telemetry, err := tenureotel.New(
			tenureotel.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter))))
		if err != nil {
			t.Fatal(err)
		}
		inner := memory.New()
		candidates := []*tenure.Candidate{}
		for _, id := range []string{"a", "b"} {
			c, err := tenure.New(metrics.Store(telemetry.Store(inner)), "billing", tenure.WithID(id),
				metrics.Observe(), telemetry.Observe())
			if err != nil {
				t.Fatal(err)
			}
			for _, add := range []func(*tenure.Candidate) error{metrics.Add, telemetry.Add} {
				if err := add(c); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.Start(context.Background()); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			candidates = append(candidates, c)
		}
		time.Sleep(time.Minute)
		if err := candidates[0].Resign(context.Background()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		byPrometheus, byOTel = gather(t, own), gather(t, other)
		for _, c := range candidates {
			if err := c.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		}
		if err := telemetry.Close(); err != nil {
			t.Error(err)
		}
		inner.Close()
	})
	return byPrometheus, byOTel
}

// The same candidates have the same metrics under both adapters: names, which hold the units, kinds, help, labels,
// buckets and values.
func TestAdaptersAgree(t *testing.T) {
	ours, theirs := measured(t)
	if a, b := slices.Sorted(maps.Keys(ours)), slices.Sorted(maps.Keys(theirs)); !slices.Equal(a, b) {
		t.Fatalf("Prometheus has\n%q\nOpenTelemetry has\n%q", a, b)
	}
	if len(ours) < 14 {
		t.Errorf("only %d metrics were seen", len(ours))
	}
	for name, a := range ours {
		b := theirs[name]
		if a.kind != b.kind || a.help != b.help || !slices.Equal(a.labels, b.labels) || !slices.Equal(a.bounds, b.bounds) {
			t.Errorf("%s is\n%+v in Prometheus, but\n%+v in OpenTelemetry", name, a, b)
		}
		for series, value := range a.series {
			if got, known := b.series[series]; got != value || !known && value != 0 { // empty histograms are not known there
				t.Errorf("%s{%s} is %v in Prometheus, but %v (known: %v) in OpenTelemetry", name, series, value, got, known)
			}
		}
		for series := range b.series {
			if _, known := a.series[series]; !known {
				t.Errorf("%s{%s} is only known in OpenTelemetry", name, series)
			}
		}
	}
}
