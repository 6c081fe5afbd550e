package postgres

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testserver"
)

func TestAdvisoryBackendTerminated(t *testing.T) {
	t.Parallel()
	url := server(t)
	a, b := openLocked(t, url, seldom()), openLocked(t, url, seldom())
	admin := openPool(t, url)
	m := newCrew(t, lease(longTTL), a, b)
	for range 3 {
		_, token := m.leader()
		exec(t, admin, "SELECT pg_terminate_backend($1)", backendOfLeader(t, a, admin))
		m.revoked(token)
		m.after(token) // long before the lease would have run out: the leader gave its seat back
	}
}

func TestAdvisoryConnectionCut(t *testing.T) {
	url := server(t)
	proxy, through := openProxy(t, url)
	m := newCrew(t, lease(longTTL), openLocked(t, through, seldom()), openLocked(t, url, seldom()))
	_, token := m.leader()
	proxy.Cut()
	m.revoked(token)
	m.after(token)
}

// A connection that carries nothing any more is noticed by the validation. The server keeps the lock, for a session that
// is nobody's: the next leader ends it.
func TestAdvisoryHalfOpenConnection(t *testing.T) {
	t.Parallel()
	url := server(t)
	proxy, through := openProxy(t, url)
	fast := WithValidation(50*time.Millisecond, 3*time.Second) // well before the end of the lease
	a, b := openLocked(t, through, fast), openLocked(t, url)
	admin := openPool(t, url)
	m := newCrew(t, lease(15*time.Second), a, b) // after a renewal that hangs for 5 s, as much of the lease is left
	_, token := m.leader()
	zombie := backendOfLeader(t, a, admin)
	proxy.Hold()
	m.revoked(token)
	if now := backendOfLeader(t, a, admin); now != zombie {
		t.Errorf("backend %d holds the lock, want still %d", now, zombie)
	}
	who, next := m.after(token)
	if who != 1 {
		t.Errorf("candidate %d leads, want the one that is not cut off", who)
	}
	if now := backendOfLeader(t, b, admin); now == zombie {
		t.Error("a leader leads without the lock")
	}
	proxy.Release()
	m.keeps(1, next, time.Second)
}

// Nothing else notices the silence long before a renewal is due.
func TestAdvisoryValidationNoticesSilence(t *testing.T) {
	t.Parallel()
	proxy, through := openProxy(t, server(t))
	m := newCrew(t, lease(longTTL), openLocked(t, through, WithValidation(50*time.Millisecond, 3*time.Second)))
	_, token := m.leader()
	proxy.Hold()
	defer proxy.Release()
	m.revoked(token)
}

func TestAdvisoryServerFrozenAndResumed(t *testing.T) {
	t.Parallel()
	pg := testserver.StartPostgres(t)
	m := newCrew(t, lease(fleet.TTL), openLocked(t, pg.URL()), openLocked(t, pg.URL()))
	_, token := m.leader()
	pg.Freeze()
	m.ended(token)
	time.Sleep(time.Second) // nobody may lead meanwhile, which the crew's records show
	pg.Thaw()
	m.after(token)
}

func TestAdvisoryServerKilledAndRestarted(t *testing.T) {
	t.Parallel()
	pg := testserver.StartPostgres(t)
	a := openLocked(t, pg.URL(), seldom())
	m := newCrew(t, lease(8*time.Second), a, openLocked(t, pg.URL(), seldom()))
	_, token := m.leader()
	pg.Kill()
	m.revoked(token)
	pg.Start()
	_, next := m.after(token)
	if n := len(lockHolders(t, a, openPool(t, pg.URL()), "billing")); n != 1 {
		t.Errorf("in term %d %d sessions hold the lock", next, n)
	}
}

func TestAdvisoryStandbyPromoted(t *testing.T) {
	t.Parallel()
	primary, standby, url := startPair(t)
	a := openLocked(t, url, seldom())
	m := newCrew(t, lease(8*time.Second), a, openLocked(t, url, seldom()))
	_, token := m.leader()
	primary.Kill()
	m.revoked(token)
	standby.Promote(t)
	m.after(token)
	if n := len(lockHolders(t, a, openPool(t, standby.URL()), "billing")); n != 1 {
		t.Errorf("%d sessions of the promoted standby hold the lock, want one", n)
	}
}

// bids matches the statement that begins a term.
func bids(request []byte) bool { return bytes.Contains(request, []byte("pg_try_advisory_lock")) }

// The row names a term whose lock went with the connection: nobody may lead in it.
func TestAdvisoryReplyToABidLost(t *testing.T) {
	url := server(t)
	proxy, through := openProxy(t, url)
	a := openLocked(t, through)
	admin := openPool(t, url)
	lost := proxy.LoseReply(bids)
	m := newCrew(t, lease(longTTL), a)
	<-lost
	var token uint64
	storetest.Eventually(t, "a leader holds the lock", func() bool {
		_, token = m.leader()
		return len(lockHolders(t, a, admin, "billing")) == 1
	})
	if token < 2 {
		t.Errorf("the term whose lock was lost, %d, is led", token)
	}
	m.keeps(0, token, time.Second)
}

func TestAdvisoryReplyToARenewalLost(t *testing.T) {
	t.Parallel()
	url := server(t)
	proxy, through := openProxy(t, url)
	m := newCrew(t, steady(), openLocked(t, through+"&default_query_exec_mode=exec", seldom()), openLocked(t, url))
	_, token := m.leader()
	<-proxy.LoseReply(updates)
	m.revoked(token)
	m.after(token)
}

func TestAdvisoryServerClockMoves(t *testing.T) {
	t.Parallel()
	libraries, _ := filepath.Glob("/usr/lib/*/faketime/libfaketime.so.1")
	if len(libraries) == 0 {
		t.Skip("libfaketime, which moves the server's clock, is not installed: apt-get install libfaketime")
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
	m := newCrew(t, steady(), openLocked(t, pg.URL()), openLocked(t, pg.URL()))
	who, token := m.leader()
	for _, by := range []string{"+1h", "-1h", "+0"} {
		set(by)
		want, _ := time.ParseDuration(strings.Replace(by, "+0", "0s", 1))
		storetest.Eventually(t, "the server's clock has moved by "+by, func() bool {
			return time.Until(scalar[time.Time](t, admin, "SELECT clock_timestamp()")).Round(time.Hour) == want
		})
		m.keeps(who, token, 2*time.Second)
	}
}

// The lock is gone and the session is not, as when something else on the connection gives it back.
func TestAdvisoryLockGoneFromItsSession(t *testing.T) {
	url := server(t)
	a := openLocked(t, url, WithValidation(20*time.Millisecond, 10*time.Second))
	m := newCrew(t, lease(longTTL), a)
	_, token := m.leader()
	onSession(t, a, "SELECT pg_advisory_unlock_all()")
	m.revoked(token)
	m.after(token)
}

func TestAdvisoryValidationWritesNothing(t *testing.T) {
	a := openLocked(t, server(t), WithValidation(10*time.Millisecond, 10*time.Second))
	storetest.Swap(t, a, "billing", "", held(1))
	onSession(t, a, "SET default_transaction_read_only = on")
	time.Sleep(300 * time.Millisecond) // some 30 validations
	if got := storetest.Load(t, a, "billing"); got.Revoked {
		t.Error("the lock is not validated in a read-only transaction")
	}
}

// A pool may close its connections as it likes, and never gets one that holds a lock.
func TestAdvisoryLeavesThePoolAlone(t *testing.T) {
	url := server(t) + "&pool_max_conn_lifetime=1s&pool_health_check_period=100ms&pool_max_conns=2"
	a, b := openLocked(t, url), openLocked(t, url)
	m := newCrew(t, steady(), a, b)
	who, token := m.leader()
	pool := a.table.pool
	before := pool.Stat().MaxLifetimeDestroyCount()
	storetest.Eventually(t, "the pool's connections are replaced", func() bool {
		storetest.Load(t, a, "billing")
		return pool.Stat().MaxLifetimeDestroyCount() >= before+3
	})
	m.keeps(who, token, 100*time.Millisecond)
	must(t, m.candidates[0].Resign(t.Context()))
	m.after(token)
	for _, s := range []*Advisory{a, b} {
		for _, conn := range s.table.pool.AcquireAllIdle(t.Context()) {
			const text = `SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()`
			if n := scalar[int](t, conn, text); n > 0 {
				t.Errorf("a connection of the pool holds %d advisory locks", n)
			}
			conn.Release()
		}
	}
}

// onSession runs a statement in the session that holds the lock. A watch may tell a leader that it won before the store
// has the reply to its bid, and with it the session.
func onSession(t testing.TB, a *Advisory, sql string) {
	t.Helper()
	var s *session
	storetest.Eventually(t, "there is a session", func() bool {
		s, _ = a.holding("billing", term{})
		return s != nil
	})
	_, err := s.do(t.Context(), 0, func(ctx context.Context) (tenure.Snapshot, error) {
		_, err := s.conn.Exec(ctx, sql)
		return tenure.Snapshot{}, err
	})
	must(t, err)
}

// giveUp lets a caller of a write give up once it waits for a lock.
func giveUp(t testing.TB, a *Advisory, admin *pgxpool.Pool, old tenure.Version, record tenure.Record) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := a.CompareAndSwap(ctx, "billing", old, record)
		done <- err
	}()
	awaitBlocked(t, admin)
	cancel()
	return <-done
}

// A caller who gives up costs a renewal, and not the lock.
func TestAdvisoryImpatientCaller(t *testing.T) {
	url := server(t)
	a := openLocked(t, url)
	admin := openPool(t, url)
	now, err := take(a, "billing", "", leaderOf(1, "one", time.Minute))
	must(t, err)
	tx, err := admin.Begin(t.Context())
	must(t, err)
	exec(t, tx, "SELECT FROM tenure WHERE election = 'billing' FOR UPDATE")
	record := now.Record
	record.Renewals++
	if err := giveUp(t, a, admin, now.Version, record); !errors.Is(err, context.Canceled) {
		t.Errorf("a renewal whose caller gave up returned %v", err)
	}
	must(t, tx.Rollback(t.Context()))
	storetest.Eventually(t, "the renewal lands all the same", func() bool { return storetest.Load(t, a, "billing").Record.Renewals == record.Renewals })
	if storetest.Load(t, a, "billing").Revoked || len(lockHolders(t, a, admin, "billing")) != 1 {
		t.Error("the lock is lost")
	}
}

// slowBids has the row of a new term take 50 ms to be written, for which the bid has the lock.
const slowBids = `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.05); RETURN NEW; END';
CREATE TRIGGER slow BEFORE UPDATE ON tenure FOR EACH ROW WHEN (NEW.token <> OLD.token) EXECUTE FUNCTION slow()`

// A hand-over with many candidates: one leads next, and none of the others has anything to complain of, unless the
// server takes longer to commit the bid than the others look who has its lock.
func TestAdvisoryHerd(t *testing.T) {
	url := server(t)
	exec(t, openLocked(t, url).table.pool, slowBids, pgx.QueryExecModeSimpleProtocol)
	var stores []tenure.Store
	for range 8 {
		stores = append(stores, newPatient(t, url+"&pool_max_conns=2"))
	}
	m := newCrew(t, lease(longTTL), stores...)
	_, token := m.leader()
	for range 5 {
		who, _ := m.leader()
		must(t, m.candidates[who].Resign(t.Context()))
		_, token = m.after(token)
	}
	for i, c := range m.candidates {
		if err := c.Status().LastError; err != nil && !errors.Is(err, tenure.ErrNotApplied) {
			t.Errorf("candidate %d met the error %v", i, err)
		}
	}
}

// patient is a store of which no bid may be refused that has not looked several times who has the lock.
type patient struct {
	*Advisory
	t     testing.TB
	looks atomic.Int64
}

func newPatient(t testing.TB, url string) *patient {
	t.Helper()
	p := &patient{t: t}
	config, err := pgxpool.ParseConfig(url)
	must(t, err)
	config.ConnConfig.Tracer = p
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	must(t, err)
	t.Cleanup(pool.Close)
	p.Advisory, err = NewAdvisory(pool, validateWithin(maxValidation))
	must(t, err)
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// TraceQueryStart counts the looks.
func (p *patient) TraceQueryStart(ctx context.Context, _ *pgx.Conn, query pgx.TraceQueryStartData) context.Context {
	if query.SQL == holdersText {
		p.looks.Add(1)
	}
	return ctx
}

func (p *patient) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (p *patient) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	before := p.looks.Load()
	snapshot, err := p.Advisory.CompareAndSwap(ctx, election, old, record)
	if n := p.looks.Load() - before; n < 5 && errors.Is(err, tenure.ErrNotApplied) && ctx.Err() == nil {
		p.t.Errorf("a bid was refused after %d looks: %v", n, err)
	}
	return snapshot, err
}
