// Package tenureotel measures and traces candidates for OpenTelemetry.
//
//	telemetry, err := tenureotel.New()
//	if err != nil {
//		return err
//	}
//	defer telemetry.Close()
//
//	c, err := tenure.New(telemetry.Store(store), "billing", telemetry.Observe())
//	if err != nil {
//		return err
//	}
//	err = telemetry.Add(c)
//
// One [Telemetry] serves any number of candidates of a process. The metrics are those of package adapters/prometheus,
// under names that OpenTelemetry's Prometheus exporters turn into the same ones; the README lists them.
//
// A term is a span, "tenure.term", from its beginning to its end, failed if it was not ended on purpose. A call to the
// store is a span, "tenure.store.load" or "tenure.store.compare_and_swap", that is linked to the term for which it was
// made. It is a child of the span in the call's context only while that one is recording; otherwise it begins a trace
// of its own, since candidates go on renewing long after the span that started them has ended.
package tenureotel
