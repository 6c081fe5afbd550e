package postgres

import (
	"testing"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/tenuretest"
)

func TestConformance(t *testing.T) {
	for name, options := range map[string][]Option{
		"renewals polled": nil,
		"renewals pushed": {WithPushedRenewals(true), WithSchema(`a "schema".of'its own`), WithTable("Élections;--")},
	} {
		t.Run(name, func(t *testing.T) {
			url := server(t)
			pool := openPool(t, url)
			open := func(t *testing.T) tenure.Store { return openStore(t, url, options...) }
			remove := func(t *testing.T, election string) {
				exec(t, pool, newTestStore(t, pool, options...).layout.fill("DELETE FROM {table} WHERE election = $1"), election)
			}
			tenuretest.Run(t, open, tenuretest.WithSecond(open), tenuretest.WithDelete(remove))
		})
	}
}

// Statements that meet a conflict fail there in another way.
func TestConformanceUnderStricterIsolation(t *testing.T) {
	for _, level := range []string{"repeatable%20read", "serializable"} {
		t.Run(level, func(t *testing.T) {
			url := server(t) + "&default_transaction_isolation=" + level
			open := func(t *testing.T) tenure.Store { return openStore(t, url) }
			tenuretest.Run(t, open, tenuretest.WithSecond(open))
		})
	}
}
