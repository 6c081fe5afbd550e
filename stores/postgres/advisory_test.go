package postgres

import (
	"context"
	"testing"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/testserver"
	"github.com/tenure-go/tenure/tenuretest"
)

// openLocked returns a store with advisory locks whose tables exist, over a pool of its own. No pause of a busy machine
// costs it a lock, unless the options say otherwise.
func openLocked(t testing.TB, url string, options ...Option) *Advisory {
	t.Helper()
	options = append([]Option{validateWithin(maxValidation)}, options...)
	a, err := NewAdvisory(openPool(t, url), options...)
	must(t, err)
	t.Cleanup(func() { _ = a.Close() })
	must(t, a.Migrate(context.Background()))
	return a
}

func TestAdvisoryConformance(t *testing.T) {
	pg := testserver.StartPostgres(t, "max_connections=400") // the kit leads hundreds of elections at once
	pool := openPool(t, pg.URL())
	open := func(t *testing.T) tenure.Store { return openLocked(t, pg.URL()) }
	remove := func(t *testing.T, election string) { exec(t, pool, "DELETE FROM tenure WHERE election = $1", election) }
	tenuretest.Run(t, open, tenuretest.WithSecond(open), tenuretest.WithDelete(remove))
}
