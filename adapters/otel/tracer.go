package tenureotel

import (
	"context"
	"errors"
	"sync"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/adapters/internal/measure"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Attributes of spans.
const (
	keyElection  = attribute.Key("tenure.election")
	keyCandidate = attribute.Key("tenure.candidate")
	keyToken     = attribute.Key("tenure.token")
	keyReason    = attribute.Key("tenure.end.reason")
	keyWhy       = attribute.Key("tenure.reason")
	keyOperation = attribute.Key("tenure.store.operation")
	keyOutcome   = attribute.Key("tenure.store.outcome")
)

// tracer makes spans of terms and of calls.
type tracer struct {
	trace.Tracer

	mu    sync.Mutex
	terms map[standing]term // that have not ended
}

// standing is a candidate of an election. It has one term at a time.
type standing struct{ election, candidate string }

type term struct {
	token uint64
	span  trace.Span
}

func newTracer(t trace.Tracer) *tracer { return &tracer{Tracer: t, terms: map[standing]term{}} }

// event takes in what happened to a candidate.
func (t *tracer) event(e tenure.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	who := standing{e.Election, e.Candidate}
	switch e.Kind {
	case tenure.EventElected:
		t.end(who, e) // of which the end was dropped, if there is one
		t.terms[who] = t.begin(e)
	case tenure.EventEnded, tenure.EventStopped:
		t.end(who, e)
	case tenure.EventStoreFailed:
		if term, ok := t.terms[who]; ok {
			term.span.RecordError(e.Err, trace.WithTimestamp(e.At))
		}
	default:
	}
}

func (t *tracer) begin(e tenure.Event) term {
	_, span := t.Start(context.Background(), "tenure.term", trace.WithTimestamp(e.At), trace.WithAttributes(
		keyElection.String(e.Election), keyCandidate.String(e.Candidate), keyToken.Int64(int64(e.Token))))
	return term{e.Token, span}
}

// intended are ends of a term that somebody wanted.
var intended = []error{tenure.ErrResigned, tenure.ErrStopped}

// end ends the span of a candidate's term, if there is one.
func (t *tracer) end(who standing, e tenure.Event) {
	term, ok := t.terms[who]
	if !ok {
		return
	}
	delete(t.terms, who)
	if e.Kind == tenure.EventEnded {
		term.span.SetAttributes(keyReason.String(measure.Reason(e.Err)), keyWhy.String(e.Reason))
		if !isAny(e.Err, intended) {
			term.span.SetStatus(codes.Error, e.Reason)
		}
	}
	term.span.End(trace.WithTimestamp(e.At))
}

func isAny(err error, targets []error) bool {
	for _, target := range targets {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// close ends what spans are left.
func (t *tracer) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for who, term := range t.terms {
		delete(t.terms, who)
		term.span.End()
	}
}

// link returns links to the terms for which a call is made: that of the record which is to be written, or those that
// this process leads in the election.
func (t *tracer) link(call measure.Call) []trace.Link {
	t.mu.Lock()
	defer t.mu.Unlock()
	var links []trace.Link
	for who, term := range t.terms {
		if who.election == call.Election && (call.Record == nil || call.Record.Token == term.token) {
			links = append(links, trace.Link{SpanContext: term.span.SpanContext()})
		}
	}
	return links
}
