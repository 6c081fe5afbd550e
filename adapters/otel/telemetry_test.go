package tenureotel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/adapters/internal/measure/measuretest"
	tenureotel "github.com/tenure-go/tenure/adapters/otel"
	"github.com/tenure-go/tenure/memory"
	"github.com/tenure-go/tenure/tenuretest"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

const (
	ttl  = measuretest.TTL
	name = measuretest.Election
)

// bed is a store and telemetry that is read by hand, in a bubble.
type bed struct {
	*tenureotel.Telemetry
	store   *memory.Store
	metrics *sdkmetric.ManualReader
	tracers *sdktrace.TracerProvider
	spans   *tracetest.InMemoryExporter
}

func bubble(t *testing.T, test func(t *testing.T, b *bed)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bed{store: memory.New(), metrics: sdkmetric.NewManualReader(), spans: tracetest.NewInMemoryExporter()}
		b.tracers = sdktrace.NewTracerProvider(sdktrace.WithSyncer(b.spans))
		var err error
		b.Telemetry, err = tenureotel.New(tenureotel.WithTracerProvider(b.tracers),
			tenureotel.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(b.metrics))))
		if err != nil {
			t.Fatal(err)
		}
		test(t, b)
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		b.store.Close()
	})
}

func (b *bed) start(t *testing.T, store tenure.Store, id string, options ...tenure.Option) *tenure.Candidate {
	t.Helper()
	c := measuretest.Start(t, b, store, id, options...)
	synctest.Wait()
	return c
}

func stop(t *testing.T, c *tenure.Candidate) {
	t.Helper()
	measuretest.Stop(t, c)
	synctest.Wait()
}

// read returns the value of every series, of histograms the count, and the unit of every metric.
func (b *bed) read(t *testing.T) (values map[string]float64, units map[string]string) {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := b.metrics.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	values, units = map[string]float64{}, map[string]string{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			units[m.Name] = m.Unit
			switch data := m.Data.(type) {
			case metricdata.Gauge[float64]:
				for _, p := range data.DataPoints {
					values[series(m.Name, p.Attributes)] = p.Value
				}
			case metricdata.Sum[float64]:
				if !data.IsMonotonic || data.Temporality != metricdata.CumulativeTemporality {
					t.Errorf("%s is no counter", m.Name)
				}
				for _, p := range data.DataPoints {
					values[series(m.Name, p.Attributes)] = p.Value
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					values[series(m.Name, p.Attributes)] = float64(p.Count)
				}
			default:
				t.Errorf("%s is a %T", m.Name, data)
			}
		}
	}
	return values, units
}

func series(name string, set attribute.Set) string {
	var pairs []string
	for _, kv := range set.ToSlice() {
		pairs = append(pairs, string(kv.Key)+"="+kv.Value.AsString())
	}
	slices.Sort(pairs)
	return name + "{" + strings.Join(pairs, ",") + "}"
}

func TestMetrics(t *testing.T) {
	bubble(t, func(t *testing.T, b *bed) {
		store := measuretest.Polled(b.store)
		a := b.start(t, store, "a", tenure.WithRenewInterval(ttl/4))
		c := b.start(t, b.store, "c")
		time.Sleep(ttl / 4)
		store.Inject(tenuretest.LoseRequest())
		time.Sleep(2*ttl - ttl/4)
		values, units := b.read(t)
		for want, value := range map[string]float64{
			"tenure.leader{candidate=a,election=billing}":                           0,
			"tenure.leader{candidate=c,election=billing}":                           1,
			"tenure.token{candidate=c,election=billing}":                            2,
			"tenure.lease.ttl{candidate=c,election=billing}":                        10,
			"tenure.lease.remaining{candidate=a,election=billing}":                  0,
			"tenure.leaderless{candidate=c,election=billing}":                       0,
			"tenure.terms.started{candidate=a,election=billing}":                    1,
			"tenure.terms.ended{candidate=a,election=billing,reason=lease_expired}": 1,
			"tenure.terms.ended{candidate=a,election=billing,reason=deposed}":       0,
			"tenure.overruns{candidate=a,election=billing}":                         0,
			"tenure.renewal.duration{candidate=a,election=billing}":                 1,
			"tenure.safety_margin.ratio{candidate=a,election=billing}":              1,
			"tenure.handover.duration{after=silence,election=billing}":              1,
			"tenure.store.errors{candidate=a,election=billing,kind=permanent}":      0,
		} {
			if got, known := values[want]; !known || got != value {
				t.Errorf("%s is %v (known: %v), want %v", want, got, known, value)
			}
		}
		for _, rising := range []string{
			"tenure.store.errors{candidate=a,election=billing,kind=unknown}",
			"tenure.store.call.duration{operation=compare_and_swap,outcome=unknown}",
			"tenure.store.call.duration{operation=load,outcome=ok}",
		} {
			if values[rising] == 0 {
				t.Errorf("%s is 0", rising)
			}
		}
		for metric, want := range map[string]string{
			"tenure.leader": "{leader}", "tenure.lease.ttl": "s", "tenure.safety_margin.ratio": "1", "tenure.terms.ended": "{term}",
		} {
			if units[metric] != want {
				t.Errorf("the unit of %s is %q, want %q", metric, units[metric], want)
			}
		}
		store.Heal()
		stop(t, a)
		stop(t, c)
		b.Remove(a)
		if values, _ := b.read(t); len(values) == 0 || has(values, "tenure.leader{candidate=a,") {
			t.Errorf("after a was removed: %v", values)
		}
	})
}

func has(values map[string]float64, prefix string) bool {
	for s := range values {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return false
}

// find returns the first span of a name, out of those that ended.
func (b *bed) find(t *testing.T, name string, attributes ...attribute.KeyValue) tracetest.SpanStub {
	t.Helper()
	for _, span := range b.spans.GetSpans() {
		set := attribute.NewSet(span.Attributes...)
		matches := func(kv attribute.KeyValue) bool {
			value, ok := set.Value(kv.Key)
			return ok && value == kv.Value
		}
		if span.Name == name && !slices.ContainsFunc(attributes, func(kv attribute.KeyValue) bool { return !matches(kv) }) {
			return span
		}
	}
	t.Fatalf("there is no span %s with %v", name, attributes)
	return tracetest.SpanStub{}
}

func TestTermsAreSpans(t *testing.T) {
	bubble(t, func(t *testing.T, b *bed) {
		begun := time.Now()
		store := measuretest.Polled(b.store)
		a := b.start(t, store, "a", tenure.WithRenewInterval(ttl/4))
		time.Sleep(ttl)
		if err := a.Resign(context.Background()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		span := b.find(t, "tenure.term", attribute.Int64("tenure.token", 1), attribute.String("tenure.candidate", "a"),
			attribute.String("tenure.election", name), attribute.String("tenure.end.reason", "resigned"))
		if !span.StartTime.Equal(begun) || !span.EndTime.Equal(begun.Add(ttl)) || span.Status.Code != codes.Unset {
			t.Errorf("a term that was ended on purpose: from %v to %v, %v", span.StartTime, span.EndTime, span.Status)
		}
		time.Sleep(2 * ttl) // it stands again
		store.Inject(tenuretest.LoseRequest())
		time.Sleep(ttl)
		span = b.find(t, "tenure.term", attribute.Int64("tenure.token", 2), attribute.String("tenure.end.reason", "lease_expired"))
		if span.Status.Code != codes.Error || len(span.Events) == 0 {
			t.Errorf("a term that was lost: %v, events %v", span.Status, span.Events)
		}
		store.Heal()
		stop(t, a)
	})
}

func TestCallsAreSpansLinkedToTheirTerm(t *testing.T) {
	bubble(t, func(t *testing.T, b *bed) {
		store := measuretest.Polled(b.store)
		ctx, startup := b.tracers.Tracer("program").Start(context.Background(), "startup")
		c, err := tenure.New(b.Store(store), name, tenure.WithID("a"), tenure.WithRenewInterval(ttl/4), b.Observe())
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(ctx); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		bid := b.find(t, "tenure.store.compare_and_swap", attribute.Int64("tenure.token", 1))
		if bid.Parent.SpanID() != startup.SpanContext().SpanID() {
			t.Error("a call within a living span is not its child")
		}
		startup.End()
		b.spans.Reset()
		time.Sleep(ttl / 4)
		renewal := b.find(t, "tenure.store.compare_and_swap", attribute.String("tenure.store.outcome", "ok"))
		store.Inject(tenuretest.LoseRequest())
		time.Sleep(ttl / 4)
		failed := b.find(t, "tenure.store.compare_and_swap", attribute.String("tenure.store.outcome", "unknown"))
		store.Heal()
		stop(t, c)
		term := b.find(t, "tenure.term")
		for what, span := range map[string]tracetest.SpanStub{"renewal": renewal, "failed": failed} {
			if span.Parent.IsValid() || span.SpanContext.TraceID() == startup.SpanContext().TraceID() {
				t.Errorf("%s: a call goes on in the trace of a span that has ended", what)
			}
			links := []string{}
			for _, l := range span.Links {
				links = append(links, l.SpanContext.SpanID().String())
			}
			for _, want := range []string{term.SpanContext.SpanID().String(), startup.SpanContext().SpanID().String()} {
				if !slices.Contains(links, want) {
					t.Errorf("%s is linked to %v, not to %s", what, links, want)
				}
			}
		}
		if failed.Status.Code != codes.Error || renewal.Status.Code != codes.Unset {
			t.Errorf("status %v of a call that failed, %v of one that did not", failed.Status, renewal.Status)
		}
	})
}

// A race that is lost is no error.
func TestConflictsAreNoErrors(t *testing.T) {
	bubble(t, func(t *testing.T, b *bed) {
		store := b.Store(b.store)
		r := tenure.Record{Token: 1, Leader: "x", Session: "x", TTL: ttl}
		if _, err := store.CompareAndSwap(context.Background(), name, "1", r); !errors.Is(err, tenure.ErrConflict) {
			t.Fatal(err)
		}
		span := b.find(t, "tenure.store.compare_and_swap", attribute.String("tenure.store.outcome", "conflict"))
		if span.Status.Code != codes.Unset || len(span.Events) != 0 {
			t.Errorf("%v %v", span.Status, span.Events)
		}
	})
}

func TestCloseEndsWhatIsLeft(t *testing.T) {
	bubble(t, func(t *testing.T, b *bed) {
		c := b.start(t, b.store, "a")
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		b.find(t, "tenure.term")
		if values, _ := b.read(t); has(values, "tenure.leader{") {
			t.Error("gauges are observed after Close")
		}
		stop(t, c)
	})
}

// broken refuses one instrument.
type broken struct{ metric.MeterProvider }

func (b broken) Meter(name string, o ...metric.MeterOption) metric.Meter {
	return brokenMeter{b.MeterProvider.Meter(name, o...)}
}

type brokenMeter struct{ metric.Meter }

var errRefused = errors.New("refused")

func (brokenMeter) Float64Histogram(string, ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return nil, errRefused
}

func TestNewRefuses(t *testing.T) {
	if _, err := tenureotel.New(tenureotel.WithMeterProvider(broken{noop.NewMeterProvider()})); !errors.Is(err, errRefused) {
		t.Error(err)
	}
	for what, o := range map[string]tenureotel.Option{
		"meters": tenureotel.WithMeterProvider(nil), "tracers": tenureotel.WithTracerProvider(nil),
	} {
		if _, err := tenureotel.New(o); !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("%s: %v", what, err)
		}
	}
	telemetry, err := tenureotel.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := tenure.New(telemetry.Store(memory.New()), name, telemetry.Observe())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(telemetry.Add(c), telemetry.Close()); err != nil {
		t.Error(err)
	}
	if err := telemetry.Add(c); !errors.Is(err, tenure.ErrConfig) {
		t.Error(fmt.Errorf("a second Add: %w", err))
	}
}
