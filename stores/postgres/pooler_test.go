package postgres

import (
	"strings"
	"testing"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/scenario"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testserver"
	"github.com/tenure-go/tenure/tenuretest"
)

// behind returns the URL of the same database behind a pooler.
func behind(t *testing.T, url, mode string, settings ...string) string {
	t.Helper()
	server(t)
	pooler := testserver.StartPgBouncer(t, shared.Server(t), mode, settings...)
	return strings.Replace(url, shared.Server(t).Addr, pooler.Addr, 1)
}

// Stories 1 and 11: behind a pooler in transaction mode no session is one's own: notifications never arrive, and prepared statements are
// lost (to pgbouncer before 1.21). Both are noticed, and everything works without.
func TestTransactionPooler(t *testing.T) {
	url := server(t)
	openStore(t, url)
	pooled := behind(t, url, "transaction")
	var s *Store // that of one of them
	open := func() tenure.Store {
		s = newTestStore(t, openPool(t, pooled))
		return s
	}
	scenario.TermOutlives(t, open, func() {
		storetest.Eventually(t, "the store finds that notifications do not arrive", func() bool {
			g, err := s.Guarantee(t.Context())
			must(t, err)
			return strings.Contains(strings.Join(g.Reasons, "\n"), "notifications do not arrive, as behind a pooler")
		})
	})
}

func TestConformanceBehindATransactionPooler(t *testing.T) {
	url := server(t)
	openStore(t, url)
	pooled := behind(t, url, "transaction")
	open := func(t *testing.T) tenure.Store {
		return newTestStore(t, openPool(t, pooled), WithPollInterval(minPoll))
	}
	tenuretest.Run(t, open, tenuretest.WithSecond(open))
}

// In session mode a session is one's own, and everything works as without a pooler.
func TestSessionPooler(t *testing.T) {
	url := server(t)
	openStore(t, url)
	pooled := behind(t, url, "session")
	var s *Store // that of one of them
	open := func() tenure.Store {
		s = newTestStore(t, openPool(t, pooled))
		return s
	}
	scenario.TermOutlives(t, open, func() { storetest.Eventually(t, "notifications arrive", s.hub.hears) })
	if s.unprepared.Load() {
		t.Error("the store gave up prepared statements")
	}
}
