package tenureotel

import (
	"context"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/adapters/internal/measure"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// tap measures and traces calls.
type tap struct {
	*measure.Recorder
	tracer *tracer
}

// Begin implements [measure.Tap].
func (t tap) Begin(ctx context.Context, call measure.Call) (context.Context, func(tenure.Snapshot, error)) {
	ctx, span := t.tracer.call(ctx, call)
	ctx, measured := t.Recorder.Begin(ctx, call)
	return ctx, func(s tenure.Snapshot, err error) {
		measured(s, err)
		outcome := measure.Outcome(err)
		span.SetAttributes(keyOutcome.String(outcome))
		if err != nil && outcome != "conflict" { // which is how a race is meant to be lost
			span.RecordError(err)
			span.SetStatus(codes.Error, outcome)
		}
		span.End()
	}
}

// call starts the span of a call.
func (t *tracer) call(ctx context.Context, call measure.Call) (context.Context, trace.Span) {
	attributes := []attribute.KeyValue{keyElection.String(call.Election), keyOperation.String(call.Operation)}
	if r := call.Record; r != nil {
		attributes = append(attributes, keyCandidate.String(r.Leader), keyToken.Int64(int64(r.Token)))
	}
	options := []trace.SpanStartOption{
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...), trace.WithLinks(t.link(call)...),
	}
	if parent := trace.SpanFromContext(ctx); !parent.IsRecording() {
		options = append(options, trace.WithNewRoot())
		if parent.SpanContext().IsValid() {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: parent.SpanContext()}))
		}
	}
	return t.Start(ctx, "tenure.store."+call.Operation, options...)
}
