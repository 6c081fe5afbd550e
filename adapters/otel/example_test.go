package tenureotel_test

import (
	"context"
	"fmt"

	"github.com/tenure-go/tenure"
	tenureotel "github.com/tenure-go/tenure/adapters/otel"
	"github.com/tenure-go/tenure/memory"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// One Telemetry serves all candidates of a process. Programs that set the global providers need no options.
func Example() {
	spans := tracetest.NewInMemoryExporter()
	telemetry, err := tenureotel.New(
		tenureotel.WithMeterProvider(sdkmetric.NewMeterProvider()),
		tenureotel.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer telemetry.Close()

	c, err := tenure.New(telemetry.Store(memory.New()), "billing", tenure.WithID("node-a"), telemetry.Observe())
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := telemetry.Add(c); err != nil {
		fmt.Println(err)
		return
	}
	err = c.Run(context.Background(), func(context.Context, tenure.Term) error { return nil })
	fmt.Println("error:", err)
	for _, span := range spans.GetSpans() {
		if span.Name == "tenure.term" {
			fmt.Println(span.Name, "with", len(span.Attributes), "attributes")
		}
	}
	// Output:
	// error: <nil>
	// tenure.term with 5 attributes
}
