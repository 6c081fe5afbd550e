// Package tenureprom measures candidates for Prometheus.
//
//	metrics := tenureprom.New()
//	registry.MustRegister(metrics)
//
//	c, err := tenure.New(metrics.Store(store), "billing", metrics.Observe())
//	if err != nil {
//		return err
//	}
//	err = metrics.Add(c)
//
// One [Metrics] measures any number of candidates of a process. Its gauges are read when they are collected, from
// memory, without a call to the store and without a goroutine; everything else is counted as it happens. Package
// adapters/otel measures the same under the same names. The README lists the metrics.
//
// The number of series is bounded by the number of candidates added: labels are the names of elections and the IDs of
// candidates, and otherwise take values from short fixed lists. An ID that is new at every start, as the default one
// is, makes new series at every start; see [tenure.WithID].
package tenureprom
