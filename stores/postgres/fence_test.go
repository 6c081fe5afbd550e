package postgres

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/tcpproxy"
)

// site is a database with an election, and a ledger that only the leader may write to.
type site struct {
	url   string
	store *Store
	pool  *pgxpool.Pool
	term  tenure.Term // of node-a, in which the election stands
	now   tenure.Snapshot
}

func newSite(t *testing.T) *site {
	t.Helper()
	url := server(t)
	s := &site{url: url, store: openStore(t, url), pool: openPool(t, url)}
	exec(t, s.pool, "CREATE TABLE ledger (token bigint NOT NULL)")
	s.now = storetest.Swap(t, s.store, "e", "", held(1))
	s.term = tenure.Term{Election: "e", Leader: "node-a", Token: 1}
	return s
}

// ample is long enough never to matter.
var ample = WithFenceLimit(time.Minute)

// begin begins a transaction on a connection of its own.
func (s *site) begin(t *testing.T, isolation pgx.TxIsoLevel) pgx.Tx {
	t.Helper()
	tx, err := s.pool.BeginTx(context.Background(), pgx.TxOptions{IsoLevel: isolation})
	must(t, err)
	t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
	return tx
}

// fenced begins a transaction with an entry in the ledger and a fence, whose limit no further statement has to keep.
func (s *site) fenced(t *testing.T, options ...Option) pgx.Tx {
	t.Helper()
	tx := s.begin(t, pgx.ReadCommitted)
	exec(t, tx, "INSERT INTO ledger VALUES ($1)", int64(s.term.Token))
	must(t, Fence(context.Background(), tx, s.term, options...))
	return tx
}

// next is what node-b's bid writes.
func (s *site) next() tenure.Record {
	r := held(s.now.Record.Token + 1)
	r.Leader, r.Session = "node-b", "77aa"
	return r
}

// renew writes a renewal of the leader's, and fails if that has to wait.
func (s *site) renew(t *testing.T) {
	t.Helper()
	r := s.now.Record
	r.Renewals++
	s.write(t, r)
}

func (s *site) write(t *testing.T, r tenure.Record) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	now, err := s.store.CompareAndSwap(ctx, "e", s.now.Version, r)
	must(t, err)
	s.now = now
}

// takeOver has node-b bid in the background.
func (s *site) takeOver() <-chan error {
	done := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		for {
			_, err := s.store.CompareAndSwap(ctx, "e", s.now.Version, s.next())
			if !errors.Is(err, tenure.ErrNotApplied) {
				done <- err
				return
			}
		}
	}()
	return done
}

// awaitBlocked returns once a statement in the database waits for a lock.
func awaitBlocked(t testing.TB, pool *pgxpool.Pool) {
	t.Helper()
	const blocked = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
		AND wait_event_type = 'Lock' AND state = 'active'`
	storetest.Eventually(t, "a statement waits for a lock", func() bool { return scalar[int](t, pool, blocked) > 0 })
}

func (s *site) awaitBlocked(t *testing.T) {
	t.Helper()
	awaitBlocked(t, s.pool)
}

func (s *site) entries(t *testing.T) int {
	t.Helper()
	return scalar[int](t, s.pool, "SELECT count(*) FROM ledger")
}

func pending(done <-chan error) bool {
	select {
	case <-done:
		return false
	default:
		return true
	}
}

func TestFenceLetsTheLeaderCommit(t *testing.T) {
	s := newSite(t)
	must(t, s.fenced(t, ample).Commit(context.Background()))
	if got := s.entries(t); got != 1 {
		t.Errorf("%d entries, want 1", got)
	}
}

func TestFenceRefusesEveryOtherTerm(t *testing.T) {
	s := newSite(t)
	for name, term := range map[string]tenure.Term{
		"earlier token":    {Election: "e", Leader: "node-a", Token: 0},
		"later token":      {Election: "e", Leader: "node-a", Token: 2},
		"another leader":   {Election: "e", Leader: "node-b", Token: 1},
		"another election": {Election: "f", Leader: "node-a", Token: 1},
	} {
		if err := Fence(t.Context(), s.begin(t, pgx.ReadCommitted), term, ample); !errors.Is(err, tenure.ErrDeposed) {
			t.Errorf("%s: %v, want ErrDeposed", name, err)
		}
	}
}

func TestFenceRefusesAVacatedTerm(t *testing.T) {
	s := newSite(t)
	vacant := s.now.Record
	vacant.Leader, vacant.Session = "", ""
	s.write(t, vacant)
	if err := Fence(t.Context(), s.begin(t, pgx.ReadCommitted), s.term, ample); !errors.Is(err, tenure.ErrDeposed) {
		t.Errorf("%v, want ErrDeposed", err)
	}
}

func TestFenceRefusesATermWhoseLeaseIsOver(t *testing.T) {
	s := newSite(t)
	tx := s.begin(t, pgx.ReadCommitted)
	if err := Fence(t.Context(), tx, s.term); !errors.Is(err, tenure.ErrDeposed) {
		t.Errorf("%v, want ErrDeposed: a term that no candidate leads is not trusted", err)
	}
	exec(t, tx, "SELECT 1") // still usable
}

func TestFenceRefusesWrongOptions(t *testing.T) {
	s := newSite(t)
	tx := s.begin(t, pgx.ReadCommitted)
	for _, o := range []Option{WithFenceLimit(-1), WithFenceLimit(time.Microsecond), WithTable(""), WithSchema("")} {
		if err := Fence(t.Context(), tx, s.term, ample, o); !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("%v, want ErrConfig", err)
		}
	}
}

func TestTakeOverWaitsForAFencedTransaction(t *testing.T) {
	s := newSite(t)
	tx := s.fenced(t, ample)
	done := s.takeOver()
	s.awaitBlocked(t)
	if !pending(done) {
		t.Fatal("the take-over did not wait")
	}
	must(t, tx.Commit(context.Background()))
	must(t, <-done)
	if got := storetest.Load(t, s.store, "e").Record; got.Token != 2 || s.entries(t) != 1 {
		t.Errorf("token %d and %d entries, want 2 and 1", got.Token, s.entries(t))
	}
}

func TestFenceWaitsForATakeOverAndIsRefused(t *testing.T) {
	s := newSite(t)
	rival := s.begin(t, pgx.ReadCommitted)
	_, err := s.store.layout.swap(context.Background(), rival, "e", s.now.Version, s.next(), swapOptions{lockTimeout: time.Minute})
	must(t, err)
	done := make(chan error, 1)
	tx := s.begin(t, pgx.ReadCommitted)
	go func() { done <- Fence(context.Background(), tx, s.term, ample) }()
	s.awaitBlocked(t)
	must(t, rival.Commit(context.Background()))
	if err := <-done; !errors.Is(err, tenure.ErrDeposed) {
		t.Errorf("%v, want ErrDeposed", err)
	}
}

func TestRenewalsAndReleasePassAFencedTransaction(t *testing.T) {
	s := newSite(t)
	tx := s.fenced(t, ample)
	for range 3 {
		s.renew(t)
	}
	asked := s.now.Record
	asked.Request = &tenure.Request{Token: 1, To: "node-b"}
	s.write(t, asked)
	vacant := s.now.Record
	vacant.Leader, vacant.Session, vacant.Request = "", "", nil
	s.write(t, vacant)
	done := s.takeOver()
	s.awaitBlocked(t) // nobody else begins while it runs, all the same
	must(t, tx.Commit(context.Background()))
	must(t, <-done)
}

// TestFrozenLeadersTransactionDoesNotKeepTheSeat: it holds its lock, does nothing, and wakes after the next one leads.
func TestFrozenLeadersTransactionDoesNotKeepTheSeat(t *testing.T) {
	s := newSite(t)
	tx := s.fenced(t, WithFenceLimit(300*time.Millisecond))
	must(t, <-s.takeOver())
	if err := tx.Commit(context.Background()); err == nil {
		t.Error("the deposed leader commits")
	}
	if got := s.entries(t); got != 0 {
		t.Errorf("%d entries of the deposed leader", got)
	}
}

func TestLongStatementDoesNotKeepTheSeat(t *testing.T) {
	t.Parallel()
	inTime(t, 3*time.Second, func(limit time.Duration) bool { return endsLongStatement(t, limit) })
}

// endsLongStatement has somebody take over from a leader in the middle of a statement, and reports whether that had
// begun before the transaction was idle for too long.
func endsLongStatement(t *testing.T, limit time.Duration) (begun bool) {
	t.Helper()
	s := newSite(t)
	tx := s.fenced(t, WithFenceLimit(limit))
	working := make(chan error, 1)
	go func() {
		_, err := tx.Exec(context.Background(), "SELECT pg_sleep(120)")
		working <- err
	}()
	must(t, <-s.takeOver())
	const queryCanceled = "57014"
	err := <-working
	t.Logf("the long statement ended with %v", err)
	if err == nil {
		t.Error("the long statement was not ended")
	}
	if err := tx.Commit(context.Background()); err == nil {
		t.Error("the deposed leader commits")
	}
	return err == nil || hasState(err, queryCanceled)
}

// TestTakeOverIsNotAppliedWhileItWaits: the write gives up before its context does, so that its outcome is known.
func TestTakeOverIsNotAppliedWhileItWaits(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	tx := s.fenced(t, ample)
	givesUp(t, func(ctx context.Context) error {
		_, err := s.store.CompareAndSwap(ctx, "e", s.now.Version, s.next())
		return err
	})
	must(t, tx.Rollback(context.Background()))
	must(t, <-s.takeOver())
}

func TestFenceInEachIsolationLevel(t *testing.T) {
	const serializationFailure = "40001"
	for _, level := range []pgx.TxIsoLevel{pgx.ReadCommitted, pgx.RepeatableRead, pgx.Serializable} {
		t.Run(string(level), func(t *testing.T) {
			s := newSite(t)
			first := s.begin(t, level)
			must(t, Fence(t.Context(), first, s.term, ample))
			s.renew(t)
			exec(t, first, "INSERT INTO ledger VALUES (1)")
			must(t, first.Commit(t.Context())) // a renewal after the fence changes nothing

			late := s.begin(t, level)
			exec(t, late, "SELECT count(*) FROM ledger")
			s.renew(t)
			must(t, Fence(t.Context(), late, s.term, ample)) // it sees an old state of the row, and locks the newest
			done := s.takeOver()
			s.awaitBlocked(t)
			must(t, late.Commit(t.Context()))
			must(t, <-done)
			s.now = storetest.Load(t, s.store, "e")
			s.term = tenure.Term{Election: "e", Leader: "node-b", Token: 2}

			deposed := s.begin(t, level)
			exec(t, deposed, "SELECT count(*) FROM ledger")
			s.write(t, s.next())
			err := Fence(t.Context(), deposed, s.term, ample)
			switch {
			case level == pgx.ReadCommitted && !errors.Is(err, tenure.ErrDeposed):
				t.Errorf("after a take-over: %v, want ErrDeposed", err)
			case level != pgx.ReadCommitted && !hasState(err, serializationFailure):
				t.Errorf("after a take-over: %v, want SQLSTATE %s", err, serializationFailure)
			}
		})
	}
}

func TestFenceKeepsShorterLimitsAndSetsThemForTheTransactionAlone(t *testing.T) {
	s := newSite(t)
	conn, err := s.pool.Acquire(t.Context())
	must(t, err)
	defer conn.Release()
	exec(t, conn, "SET statement_timeout = '5s'")
	exec(t, conn, "SET idle_in_transaction_session_timeout = '2h'")
	tx, err := conn.Begin(t.Context())
	must(t, err)
	must(t, Fence(t.Context(), tx, s.term, WithFenceLimit(90*time.Second)))
	settings := func(q querier) [2]string {
		return [2]string{
			scalar[string](t, q, "SHOW statement_timeout"),
			scalar[string](t, q, "SHOW idle_in_transaction_session_timeout"),
		}
	}
	if got, want := settings(tx), [2]string{"5s", "90s"}; got != want {
		t.Errorf("in the transaction: %q, want %q", got, want)
	}
	must(t, tx.Commit(t.Context()))
	if got, want := settings(conn), [2]string{"5s", "2h"}; got != want {
		t.Errorf("after the transaction: %q, want %q", got, want)
	}
}

func TestFenceSQL(t *testing.T) {
	s := newSite(t)
	db := stdlib.OpenDBFromPool(s.pool)
	defer db.Close()
	begin := func() *sql.Tx {
		tx, err := db.BeginTx(context.Background(), nil)
		must(t, err)
		t.Cleanup(func() { _ = tx.Rollback() })
		return tx
	}
	tx := begin()
	must(t, FenceSQL(t.Context(), tx, s.term, ample))
	done := s.takeOver()
	s.awaitBlocked(t)
	must(t, tx.Commit())
	must(t, <-done)
	if err := FenceSQL(t.Context(), begin(), s.term, ample); !errors.Is(err, tenure.ErrDeposed) {
		t.Errorf("%v, want ErrDeposed", err)
	}
}

// TestFenceOfALeaderThatIsCutOff: real candidates, and a leader whose transaction is open when its network goes.
func TestFenceOfALeaderThatIsCutOff(t *testing.T) {
	t.Parallel()
	inTime(t, 5*time.Second, func(ttl time.Duration) bool { return outlivesItsFence(t, ttl) })
}

// outlivesItsFence cuts a leader with a lease of ttl off, and reports whether it was one when it called Fence.
func outlivesItsFence(t *testing.T, ttl time.Duration) bool {
	t.Helper()
	url := server(t)
	proxy := tcpproxy.Start(t, shared.Server(t).Addr)
	far := openPool(t, strings.Replace(url, shared.Server(t).Addr, proxy.Addr(), 1))
	near := openStore(t, url)
	pool := openPool(t, url)
	exec(t, pool, "CREATE TABLE ledger (token bigint NOT NULL)")

	first := campaign(t, newTestStore(t, far), "node-a", ttl)
	tx, err := far.Begin(t.Context())
	must(t, err)
	defer tx.Rollback(context.Background())
	exec(t, tx, "INSERT INTO ledger VALUES ($1)", int64(first.Term().Token)) // before the limits of the fence count
	err = Fence(t.Context(), tx, first.Term())
	if errors.Is(err, tenure.ErrDeposed) && !first.Term().Valid() {
		return false
	}
	must(t, err)
	proxy.Hold()
	second := campaign(t, near, "node-b", time.Minute)
	if first.Term().Valid() {
		t.Error("the leader that is cut off still trusts itself")
	}
	proxy.Release()
	if err := tx.Commit(t.Context()); err == nil {
		t.Error("the deposed leader commits")
	}
	fence, err := pool.Begin(t.Context())
	must(t, err)
	must(t, Fence(t.Context(), fence, second.Term()))
	must(t, fence.Commit(t.Context()))
	if got := scalar[int](t, pool, "SELECT count(*) FROM ledger"); got != 0 {
		t.Errorf("%d entries of the deposed leader", got)
	}
	return true
}

// campaign leads with a candidate of its own until the test ends.
func campaign(t *testing.T, store tenure.Store, id string, ttl time.Duration) *tenure.Leadership {
	t.Helper()
	c, err := tenure.New(store, "e", tenure.WithID(id), tenure.WithTTL(ttl))
	must(t, err)
	l, err := c.Campaign(t.Context())
	must(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = l.Resign(ctx) // it may be over long since
	})
	return l
}
