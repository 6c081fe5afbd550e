package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/scenario"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/tcpproxy"
	"github.com/tenure-go/tenure/internal/testserver"
)

// at returns how candidates open stores of a database, each with a pool of its own.
func at(t *testing.T, url string) scenario.Open {
	return func() tenure.Store { return openStore(t, url) }
}

func TestBackendTerminated(t *testing.T) {
	url := server(t)
	admin := openPool(t, url)
	const others = `FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
AND backend_type = 'client backend'`
	scenario.TermOutlives(t, at(t, url), scenario.Times(3, func() {
		storetest.Eventually(t, "three stores are connected", func() bool {
			return scalar[int](t, admin, `SELECT count(*)::int `+others) >= 3
		})
		exec(t, admin, `SELECT pg_terminate_backend(pid) `+others)
	})...)
}

func TestServerFrozenAndResumed(t *testing.T) {
	t.Parallel()
	pg := testserver.StartPostgres(t)
	scenario.Outages(t, at(t, pg.URL()), scenario.Freeze(pg.Process))
}

func TestServerKilledAndRestarted(t *testing.T) {
	t.Parallel()
	pg := testserver.StartPostgres(t)
	scenario.Outages(t, at(t, pg.URL()), scenario.Kill(pg.Process))
}

func TestHandOver(t *testing.T) { scenario.HandOver(t, at(t, server(t))) }

func TestServerRestartedWithinTheLease(t *testing.T) {
	t.Parallel()
	pg := testserver.StartPostgres(t)
	s := openStore(t, pg.URL())
	record := held(1)
	current := storetest.Swap(t, s, "billing", "", record)
	pg.Kill()
	if _, err := s.CompareAndSwap(t.Context(), "billing", current.Version, record); err == nil {
		t.Fatal("a write to a server that was killed succeeded")
	}
	pg.Start()
	storetest.Eventually(t, "the store works again", func() bool {
		got, err := s.Load(t.Context(), "billing")
		return err == nil && got.Version == current.Version
	})
}

// addressOf returns the host and port in a URL.
func addressOf(t testing.TB, url string) string {
	t.Helper()
	config, err := pgxpool.ParseConfig(url)
	must(t, err)
	return fmt.Sprintf("%s:%d", config.ConnConfig.Host, config.ConnConfig.Port)
}

func openProxy(t testing.TB, url string) (*tcpproxy.Proxy, string) {
	t.Helper()
	addr := addressOf(t, url)
	proxy, err := tcpproxy.Listen(addr)
	must(t, err)
	t.Cleanup(proxy.Close)
	return proxy, strings.Replace(url, addr, proxy.Addr(), 1)
}

// updates matches a request that replaces a record, unless it was prepared.
func updates(request []byte) bool { return bytes.Contains(request, []byte("UPDATE ")) }

// Story 24: the reply is lost after the commit. The outcome is unknown, and a look settles it.
func TestReplyLostAfterCommit(t *testing.T) {
	proxy, url := openProxy(t, server(t))
	s := openStore(t, url+"&default_query_exec_mode=exec")
	record := held(1)
	current := storetest.Swap(t, s, "billing", "", record)
	lost := proxy.LoseReply(updates)
	record.Renewals++
	_, err := s.CompareAndSwap(t.Context(), "billing", current.Version, record)
	<-lost
	for _, claim := range []error{tenure.ErrConflict, tenure.ErrNotApplied, tenure.ErrPermanent} {
		if errors.Is(err, claim) {
			t.Errorf("the lost reply is taken for %v", claim)
		}
	}
	if err == nil {
		t.Error("the lost reply is no error")
	}
	if got := storetest.Load(t, s, "billing"); got.Record.Renewals != record.Renewals {
		t.Errorf("the record is at renewal %d, want %d: the write was made", got.Record.Renewals, record.Renewals)
	}
}

// A leader finds its own write again, whatever became of the reply.
func TestLeaderSurvivesLostReplies(t *testing.T) {
	proxy, url := openProxy(t, server(t))
	lose := func() { <-proxy.LoseReply(updates) }
	scenario.TermOutlives(t, at(t, url+"&default_query_exec_mode=exec"), scenario.Times(3, lose)...)
}

// Story 12: a connection that stands open and carries nothing, among others.
func TestHalfOpenConnection(t *testing.T) {
	for name, cutOff := range scenario.CutOffs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := server(t)
			addr := addressOf(t, url)
			open := func(to string) tenure.Store { return openStore(t, strings.Replace(url, addr, to, 1)) }
			scenario.LeaderIsCutOff(t, addr, open, cutOff)
		})
	}
}

// Story 11: the pool recycles connections under the leader, who holds nothing in them.
func TestPoolReplacesItsConnectionsEverySecond(t *testing.T) {
	url := server(t) + "&pool_max_conn_lifetime=1s&pool_health_check_period=200ms"
	var stores []*Store
	open := func() tenure.Store {
		stores = append(stores, openStore(t, url))
		return stores[len(stores)-1]
	}
	replaced := func() (n int64) {
		for _, s := range stores {
			n += s.pool.Stat().MaxLifetimeDestroyCount()
		}
		return n
	}
	scenario.TermOutlives(t, open, func() { // those of the leader, who alone uses them
		before := replaced()
		storetest.Eventually(t, "connections are replaced", func() bool { return replaced() >= before+3 })
	})
	for _, s := range stores {
		if n := s.hub.sessions.Load(); n != 1 {
			t.Errorf("the watching connection was made %d times, want once: it is none of the pool's", n)
		}
	}
}

// startPair starts a primary and a synchronous standby, and returns the URL of both.
func startPair(t *testing.T) (primary, standby *testserver.Postgres, url string) {
	t.Helper()
	primary = testserver.StartPostgres(t, "synchronous_standby_names=second")
	standby = primary.StartReplica(t, "second", "hot_standby=on", "synchronous_standby_names=")
	host, port, _ := strings.Cut(primary.Addr, ":")
	_, other, _ := strings.Cut(standby.Addr, ":")
	return primary, standby, fmt.Sprintf("postgres:///postgres?host=%s,%s&port=%s,%s&user=postgres&sslmode=disable"+
		"&target_session_attrs=read-write", host, host, port, other)
}

// Story 13: the database fails over; the pool leaves the dead primary.
func TestStandbyPromotedAfterThePrimaryDied(t *testing.T) {
	t.Parallel()
	primary, standby, url := startPair(t)
	scenario.TermOutlives(t, at(t, url), func() {
		primary.Kill()
		standby.Promote(t)
	})
}

// Story 13: the old primary stays up and takes no writes any more: connections to it work, and are of no use.
func TestStandbyPromotedBesideThePrimary(t *testing.T) {
	t.Parallel()
	primary, standby, url := startPair(t)
	s := openStore(t, url)
	current := storetest.Swap(t, s, "billing", "", held(1))
	fill := s.pool.Stat().MaxConns()
	var conns []*pgxpool.Conn
	for range fill { // every connection of the pool leads to the old primary
		conn, err := s.pool.Acquire(t.Context())
		must(t, err)
		conns = append(conns, conn)
	}
	for _, conn := range conns {
		conn.Release()
	}
	standby.Promote(t)
	old := openPool(t, primary.URL())
	exec(t, old, "ALTER SYSTEM SET default_transaction_read_only = on")
	exec(t, old, "SELECT pg_reload_conf()")
	storetest.Eventually(t, "the old primary takes no writes", func() bool {
		conn, err := pgx.Connect(t.Context(), primary.URL())
		must(t, err)
		defer conn.Close(context.Background())
		return scalar[string](t, conn, "SHOW default_transaction_read_only") == "on"
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	record := held(1)
	record.Renewals++
	written, err := s.CompareAndSwap(ctx, "billing", current.Version, record)
	must(t, err)
	if got := storetest.Load(t, newTestStore(t, openPool(t, standby.URL())), "billing"); got.Version != written.Version {
		t.Error("the write did not go to the new primary")
	}
}

// An address goes on leading to the old primary, which is a standby now, and then to the new one. Connections to the
// old one stay, and are of no use.
func TestAddressLeadsToADemotedServer(t *testing.T) {
	t.Parallel()
	primary := testserver.StartPostgres(t)
	standby := primary.StartReplica(t, "second")
	address := tcpproxy.Start(t, primary.Addr)
	demote := func() {
		primary.Stop()
		standby.Promote(t)
		primary.Follow(t, standby.Addr, "first")
		primary.Start()
	}
	scenario.Outages(t, at(t, testserver.PostgresURL(address.Addr())), scenario.Outage{Begin: demote, End: func() {
		storetest.Eventually(t, "candidates are connected to the standby", func() bool { return address.Connections() > 0 })
		address.SetUpstream(standby.Addr)
	}})
}

func TestServerThatTakesNoWrites(t *testing.T) {
	t.Parallel()
	primary, standby, _ := startPair(t)
	current := storetest.Swap(t, openStore(t, primary.URL()), "billing", "", held(1))
	s := newTestStore(t, openPool(t, standby.URL()))
	storetest.Eventually(t, "the standby has the record", func() bool {
		var count int
		err := s.pool.QueryRow(t.Context(), "SELECT count(*)::int FROM tenure").Scan(&count)
		return err == nil && count == 1
	})
	readOnly := newTestStore(t, openPool(t, primary.URL()+"&default_transaction_read_only=on"))
	_, loading := s.Load(t.Context(), "billing")
	_, creating := s.CompareAndSwap(t.Context(), "invoices", "", held(1))
	_, writing := s.CompareAndSwap(t.Context(), "billing", current.Version, held(1))
	_, refused := readOnly.CompareAndSwap(t.Context(), "billing", current.Version, held(1))
	for what, err := range map[string]error{
		"Load on a standby": loading, "a create on a standby": creating, "a write on a standby": writing,
		"a write to a server that is read-only": refused,
	} {
		if !errors.Is(err, tenure.ErrNotApplied) || !strings.Contains(err.Error(), "target_session_attrs=read-write") {
			t.Errorf("%s: %v; want ErrNotApplied with what to do", what, err)
		}
	}
	watched := make(chan error, 100)
	stop, err := s.Watch(t.Context(), "billing", func(_ tenure.Snapshot, err error) { watched <- err })
	must(t, err)
	defer stop()
	if err := <-watched; !errors.Is(err, errStandby) {
		t.Errorf("a watch on a standby delivers %v, want that it is one", err)
	}
}

func TestServerClockMoves(t *testing.T) {
	t.Parallel()
	testserver.Find(t, "faketime")
	libraries, _ := filepath.Glob("/usr/lib/*/faketime/libfaketime.so.1")
	if len(libraries) == 0 {
		t.Fatal("faketime is there, but not its library")
	}
	clock := filepath.Join(testserver.Dir(t), "clock")
	set := func(shift string) {
		must(t, os.WriteFile(clock+".new", []byte(shift+"\n"), 0o644))
		must(t, os.Rename(clock+".new", clock))
	}
	set("+0")
	pg := testserver.StartPostgresEnv(t, []string{
		"LD_PRELOAD=" + libraries[0], "FAKETIME_TIMESTAMP_FILE=" + clock, "FAKETIME_NO_CACHE=1", "DONT_FAKE_MONOTONIC=1",
	})
	admin := openPool(t, pg.URL())
	shift := func() time.Duration {
		return time.Until(scalar[time.Time](t, admin, "SELECT clock_timestamp()")).Round(time.Hour)
	}
	var troubles []func()
	for _, by := range []string{"+1h", "-1h", "+0"} {
		want, _ := time.ParseDuration(strings.Replace(by, "+0", "0s", 1))
		troubles = append(troubles, func() {
			set(by)
			storetest.Eventually(t, "the server's clock has moved by "+by, func() bool { return shift() == want })
			time.Sleep(time.Second) // for whoever believes it
		})
	}
	scenario.TermOutlives(t, at(t, pg.URL()), troubles...)
}
