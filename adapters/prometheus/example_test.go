package tenureprom_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/tenure-go/tenure"
	tenureprom "github.com/tenure-go/tenure/adapters/prometheus"
	"github.com/tenure-go/tenure/memory"
)

// One collector serves all candidates of a process.
func Example() {
	metrics := tenureprom.New()
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics)

	c, err := tenure.New(metrics.Store(memory.New()), "billing", tenure.WithID("node-a"), metrics.Observe())
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := metrics.Add(c); err != nil {
		fmt.Println(err)
		return
	}
	_, err = c.TryAcquire(context.Background()) // a program would Start it, or Run
	fmt.Println("error:", err)

	scrape := httptest.NewRecorder()
	handler := promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	handler.ServeHTTP(scrape, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	for line := range strings.Lines(scrape.Body.String()) {
		if strings.HasPrefix(line, "tenure_leader{") || strings.HasPrefix(line, "tenure_token{") {
			fmt.Print(line)
		}
	}
	// Output:
	// error: <nil>
	// tenure_leader{candidate="node-a",election="billing"} 1
	// tenure_token{candidate="node-a",election="billing"} 1
}
