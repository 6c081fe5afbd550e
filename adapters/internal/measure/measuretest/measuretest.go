// Package measuretest is what the tests of adapters that measure candidates have in common.
package measuretest

import (
	"context"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/tenuretest"
)

const (
	// TTL is that of the candidates.
	TTL = 10 * time.Second
	// Election is what they stand in.
	Election = "billing"
)

// TB is what this package needs of a test.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Polled returns a store that pushes nothing, and that can be cut off.
func Polled(store tenure.Store) tenuretest.Faulty {
	return tenuretest.NewFaulty(struct{ tenure.Store }{store})
}

// Adapter measures candidates.
type Adapter interface {
	Store(store tenure.Store) tenure.Store
	Observe() tenure.Option
	Add(c *tenure.Candidate) error
}

// Start has a measured candidate stand.
func Start(tb TB, a Adapter, store tenure.Store, id string, options ...tenure.Option) *tenure.Candidate {
	tb.Helper()
	options = append([]tenure.Option{tenure.WithID(id), tenure.WithTTL(TTL), a.Observe()}, options...)
	c, err := tenure.New(a.Store(store), Election, options...)
	if err == nil {
		err = a.Add(c)
	}
	if err == nil {
		err = c.Start(context.Background())
	}
	if err != nil {
		tb.Fatalf("start %s: %v", id, err)
	}
	return c
}

// Stop has candidates leave.
func Stop(tb TB, candidates ...*tenure.Candidate) {
	tb.Helper()
	for _, c := range candidates {
		if err := c.Stop(context.Background()); err != nil {
			tb.Errorf("stop: %v", err)
		}
	}
}
