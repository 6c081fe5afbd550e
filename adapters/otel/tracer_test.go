package tenureotel

import (
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// The events of a candidate whose observers were too slow have gaps. A term whose end was dropped ends with the next.
func TestTermsEndAlthoughTheirEndWasDropped(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	tracer := newTracer(sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans)).Tracer(scope))
	for token := range uint64(3) {
		tracer.event(tenure.Event{Kind: tenure.EventElected, Election: "e", Candidate: "a", Token: token + 1, At: time.Now()})
	}
	if n := len(spans.GetSpans()); n != 2 {
		t.Errorf("%d of 2 terms have ended", n)
	}
	tracer.event(tenure.Event{Kind: tenure.EventStopped, Election: "e", Candidate: "a", At: time.Now()})
	tracer.event(tenure.Event{Kind: tenure.EventEnded, Election: "e", Candidate: "a", At: time.Now()})
	if n := len(spans.GetSpans()); n != 3 || len(tracer.terms) != 0 {
		t.Errorf("%d of 3 terms have ended; %d are kept", n, len(tracer.terms))
	}
}
