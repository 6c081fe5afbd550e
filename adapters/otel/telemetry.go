package tenureotel

import (
	"context"
	"fmt"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/adapters/internal/measure"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// scope names the instrumentation.
const scope = "github.com/tenure-go/tenure/adapters/otel"

// Option configures a [Telemetry].
type Option interface{ apply(*config) }

type option func(*config)

func (o option) apply(c *config) { o(c) }

type config struct {
	meters  metric.MeterProvider
	tracers trace.TracerProvider
}

// WithMeterProvider sets where metrics go. Default: the global one. That of package metric/noop turns them off.
func WithMeterProvider(p metric.MeterProvider) Option {
	return option(func(c *config) { c.meters = p })
}

// WithTracerProvider sets where spans go. Default: the global one. That of package trace/noop turns them off.
func WithTracerProvider(p trace.TracerProvider) Option {
	return option(func(c *config) { c.tracers = p })
}

// Telemetry measures and traces candidates. All methods are safe for concurrent use.
type Telemetry struct {
	recorder     *measure.Recorder
	tracer       *tracer
	registration metric.Registration
}

// New makes the instruments. It measures nobody yet. The error is the meter provider's.
func New(options ...Option) (*Telemetry, error) {
	c := config{otel.GetMeterProvider(), otel.GetTracerProvider()}
	for _, o := range options {
		if o != nil {
			o.apply(&c)
		}
	}
	if c.meters == nil || c.tracers == nil {
		return nil, fmt.Errorf("%w: a provider is nil", tenure.ErrConfig)
	}
	meter := c.meters.Meter(scope)
	instruments, err := newInstruments(meter)
	if err != nil {
		return nil, fmt.Errorf("tenureotel: making the instruments: %w", err)
	}
	t := &Telemetry{recorder: measure.NewRecorder(instruments), tracer: newTracer(c.tracers.Tracer(scope))}
	t.registration, err = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		t.recorder.Gauges(instruments.observe(o))
		return nil
	}, instruments.observables()...)
	if err != nil {
		return nil, fmt.Errorf("tenureotel: registering the gauges: %w", err)
	}
	return t, nil
}

// Close ends the observation of the gauges, and the spans of terms that have not ended. Call it after the candidates
// have stopped.
func (t *Telemetry) Close() error {
	t.tracer.close()
	return t.registration.Unregister()
}

// Store returns a store that measures and traces the calls to store, and measures how long hand-overs take as they are
// seen through it. It is for candidates: of the store's optional interfaces it has those that they use
// ([tenure.Watcher] only if store has). Without it there are no spans of calls, no tenure.store.call.duration, and
// nothing in tenure.handover.duration.
func (t *Telemetry) Store(store tenure.Store) tenure.Store {
	return measure.Wrap(store, tap{t.recorder, t.tracer})
}

// Observe returns the option that lets t see the events of a candidate. What happens before [Telemetry.Add] is not
// counted.
func (t *Telemetry) Observe() tenure.Option {
	return tenure.WithObserver(func(e tenure.Event) {
		t.recorder.Event(e)
		t.tracer.event(e)
	})
}

// Add begins to measure a candidate that was made with the option of [Telemetry.Observe]. Call it before the candidate
// starts. The error wraps [tenure.ErrConfig] if another candidate of the same election and ID is measured.
func (t *Telemetry) Add(c *tenure.Candidate) error { return t.recorder.Add(c) }

// Remove ends the measuring of a candidate, for programs whose elections come and go. Its gauges are reported no more;
// OpenTelemetry has no way to drop counters and histograms, whose attributes stay until the process ends. One that is
// not measured is ignored.
func (t *Telemetry) Remove(c *tenure.Candidate) { t.recorder.Remove(c) }
