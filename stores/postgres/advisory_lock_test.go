package postgres

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/certainty"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/storetest"
)

// take begins a term.
func take(a tenure.Store, election string, old tenure.Version, record tenure.Record) (tenure.Snapshot, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return a.CompareAndSwap(ctx, election, old, record)
}

func leaderOf(token uint64, session string, ttl time.Duration) tenure.Record {
	return tenure.Record{Token: token, Leader: "node-" + session, Session: session, TTL: ttl, Renewals: 1}
}

func vacated(r tenure.Record) tenure.Record {
	r.Leader, r.Session = "", ""
	r.Renewals++
	return r
}

// plain is a connection of another program.
func plain(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	must(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func TestLockIDIsThatOfTheDocumentation(t *testing.T) {
	const want = -7621182553746156975
	if got := LockID("public", "tenure", "billing"); got != want {
		t.Errorf("the ID is %d, want %d: it must never change", got, int64(want))
	}
	pool := openPool(t, server(t))
	for _, election := range []string{"billing", "Rechnungen für März/2", "a'b\"c"} {
		text := "public.tenure/" + election
		got := scalar[int64](t, pool, `SELECT ('x' || encode(substr(sha256(convert_to($1::text, 'UTF8')), 1, 8), 'hex'))::bit(64)::bigint`, text)
		if want := LockID("public", "tenure", election); got != want {
			t.Errorf("for %q SQL computes %d, want %d", election, got, want)
		}
	}
}

func TestBadgeFitsAndTellsApart(t *testing.T) {
	a := openLocked(t, server(t))
	long := strings.Repeat("ß", 120)
	seen := map[string]bool{}
	for _, election := range []string{"billing", "invoices", long, long + "a"} {
		for _, session := range []string{"4f1d", "9c2e", strings.Repeat("0f", 120)} {
			badge := a.badge(election, session)
			if len(badge) > maxAppName || seen[badge] {
				t.Errorf("badge %q has %d bytes, was there before: %t", badge, len(badge), seen[badge])
			}
			seen[badge] = true
			h := holder{name: badge, exclusive: true}
			if !h.ours(a) || !h.of(a, election) || !h.is(a, election, session) || h.of(a, "other") || h.is(a, election, "other") {
				t.Errorf("badge %q is not recognized", badge)
			}
		}
	}
	for _, name := range []string{"", "psql", brand, a.badge("billing", "4f1d")[:tableMark+len(brand)-1]} {
		if h := (holder{name: name, exclusive: true}); h.ours(a) || h.of(a, "billing") {
			t.Errorf("application %q is taken for ours", name)
		}
	}
}

// Whoever takes the lock in another way excludes all candidates, and is never ended.
func TestForeignHolderKeepsEverybodyOut(t *testing.T) {
	t.Parallel()
	url := server(t)
	a := openLocked(t, url, WithValidation(50*time.Millisecond, 10*time.Second))
	for kind, lock := range map[string]string{"an exclusive": "pg_advisory_lock", "a shared": "pg_advisory_lock_shared"} {
		election := "billing " + kind
		// A leader that is long gone does not make the holder a zombie.
		old := storetest.Swap(t, a.table, election, "", leaderOf(1, "dead", 20*time.Millisecond))
		storetest.Load(t, a, election)
		time.Sleep(40 * time.Millisecond)
		other := plain(t, url)
		exec(t, other, "SELECT "+lock+"($1)", a.LockID(election))
		for end := time.Now().Add(lingering + 500*time.Millisecond); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			_, err := take(a, election, old.Version, leaderOf(2, "one", time.Minute))
			if !errors.Is(err, tenure.ErrNotApplied) || tenure.RetryAfter(err) == 0 || !strings.Contains(err.Error(), "another program") {
				t.Fatalf("%s lock: a bid returned %v, want ErrNotApplied and how long to wait", kind, err)
			}
		}
		if got := storetest.Load(t, a, election); got.Version != old.Version {
			t.Errorf("%s lock: the row was written without the lock", kind)
		}
		must(t, other.Ping(t.Context()))
		exec(t, other, "SELECT pg_advisory_unlock_all()")
		_, err := take(a, election, old.Version, leaderOf(2, "one", time.Minute))
		must(t, err)
		if scalar[bool](t, other, "SELECT pg_try_advisory_lock($1)", a.LockID(election)) {
			t.Errorf("%s lock: another program got the leader's", kind)
		}
	}
}

func TestForeignHolderLeadsToNoLeader(t *testing.T) {
	t.Parallel()
	url := server(t)
	a := openLocked(t, url, WithValidation(50*time.Millisecond, 10*time.Second))
	other := plain(t, url)
	exec(t, other, "SELECT pg_advisory_lock($1)", a.LockID("billing"))
	c, err := tenure.New(a, "billing", tenure.WithTTL(fleet.TTL))
	must(t, err)
	must(t, c.Start(t.Context()))
	defer c.Stop(context.Background())
	for end := time.Now().Add(2 * fleet.TTL); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if c.IsLeader() {
			t.Fatal("somebody leads while another program has the lock")
		}
	}
	exec(t, other, "SELECT pg_advisory_unlock_all()")
	storetest.Eventually(t, "the candidate leads once the lock is free", c.IsLeader)
}

// The same number is another lock in another database, and as two halves.
func TestOtherLocksOfTheSameNumber(t *testing.T) {
	url, elsewhere := server(t), server(t)
	a := openLocked(t, url)
	id := a.LockID("billing")
	exec(t, plain(t, elsewhere), "SELECT pg_advisory_lock($1)", id)
	exec(t, plain(t, url), "SELECT pg_advisory_lock($1, $2)", int32(id>>32), int32(id))
	exec(t, plain(t, url), "SELECT pg_advisory_lock($1)", int64(uint64(id)&(1<<32-1)))
	if _, err := take(a, "billing", "", leaderOf(1, "one", time.Minute)); err != nil {
		t.Errorf("a bid returned %v, though nobody has its lock", err)
	}
}

// If the row is not as expected the lock does not remain, and if the lock is not to be had the row is not written.
func TestAcquireIsAllOrNothing(t *testing.T) {
	t.Parallel()
	url := server(t)
	a := openLocked(t, url)
	admin := openPool(t, url)
	old := storetest.Swap(t, a.table, "billing", "", vacated(leaderOf(1, "one", time.Minute)))

	other := plain(t, url)
	exec(t, other, "SELECT pg_advisory_lock($1)", a.LockID("billing"))
	conn, _, err := a.dial(t.Context(), "x")
	must(t, err)
	w := write{"billing", old.Version, leaderOf(2, "two", time.Minute)}
	_, got, err := a.table.layout.take(t.Context(), conn, w, time.Second, a.LockID("billing"), true, "x")
	if got || err != nil || storetest.Load(t, a, "billing").Version != old.Version {
		t.Errorf("without the lock: got it %t, %v, row written %t", got, err, storetest.Load(t, a, "billing").Version != old.Version)
	}
	exec(t, other, "SELECT pg_advisory_unlock_all()")

	changed := storetest.Swap(t, a.table, "billing", old.Version, vacated(leaderOf(1, "one", time.Minute)))
	_, got, err = a.table.layout.take(t.Context(), conn, w, time.Second, a.LockID("billing"), true, "x")
	if !got || !errors.Is(err, tenure.ErrConflict) {
		t.Errorf("from an old version: got the lock %t, %v", got, err)
	}
	if n := len(lockHolders(t, a, admin, "billing")); n != 0 {
		t.Errorf("after a conflict %d sessions hold the lock", n)
	}
	_ = conn.Close(t.Context())

	// The row is locked by somebody: the bid waits with the lock, in vain. The collector must not close what it forgot.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	tx, err := admin.Begin(t.Context())
	must(t, err)
	exec(t, tx, "SELECT FROM tenure WHERE election = 'billing' FOR UPDATE")
	free := func() bool { return len(lockHolders(t, a, admin, "billing")) == 0 }
	givesUp(t, func(ctx context.Context) error {
		storetest.Eventually(t, "nobody bids", free)
		_, err := a.CompareAndSwap(ctx, "billing", changed.Version, leaderOf(2, "two", time.Minute))
		return err
	})
	must(t, tx.Rollback(t.Context()))
	storetest.Eventually(t, "the lock is free after a bid that failed", free)
	if got := storetest.Load(t, a, "billing"); got.Version != changed.Version {
		t.Error("a bid that failed has written the row")
	}
}

// Whoever is woken by a release finds the lock free, every time.
func TestReleaseFreesTheLockBeforeItIsTold(t *testing.T) {
	t.Parallel()
	url := server(t)
	a := openLocked(t, url)
	admin := openPool(t, url)
	_, err := take(a, "billing", "", leaderOf(1, "one", time.Minute))
	must(t, err)
	listener := plain(t, url)
	exec(t, listener, "LISTEN "+pgx.Identifier{a.table.layout.channel}.Sanitize())
	for round := range uint64(30) {
		now := storetest.Load(t, a, "billing")
		done := make(chan error, 1)
		go func() {
			_, err := take(a, "billing", now.Version, vacated(now.Record))
			done <- err
		}()
		for vacant := false; !vacant; vacant = storetest.Load(t, a, "billing").Record.Vacant() {
			_, err := listener.WaitForNotification(t.Context())
			must(t, err)
		}
		if all := lockHolders(t, a, admin, "billing"); len(all) != 0 {
			t.Fatalf("round %d: told of the release, the lock is held by %v", round, all)
		}
		must(t, <-done)
		_, err := take(a, "billing", storetest.Load(t, a, "billing").Version, leaderOf(round+2, "one", time.Minute))
		must(t, err)
	}
}

// zombie is a session that has the lock of a term, as ours do, and does nothing any more.
func zombie(t testing.TB, a *Advisory, url, election, session string) *pgx.Conn {
	t.Helper()
	conn := plain(t, url)
	exec(t, conn, "SELECT set_config('application_name', $1, false), pg_advisory_lock($2)", a.badge(election, session), a.LockID(election))
	return conn
}

func TestZombieHolderIsEvicted(t *testing.T) {
	t.Parallel()
	url := server(t)
	inTime(t, 3*time.Second, func(ttl time.Duration) bool { return standsForItsLease(t, url, ttl) })
}

// standsForItsLease has a candidate bid before and after the end of a zombie's lease, and reports whether the first bid
// came in time.
func standsForItsLease(t *testing.T, url string, ttl time.Duration) bool {
	t.Helper()
	a, election := openLocked(t, url), "of leases of "+ttl.String()
	old := storetest.Swap(t, a.table, election, "", leaderOf(1, "dead", ttl))
	conn := zombie(t, a, url, election, "dead")
	seen := time.Now()
	storetest.Load(t, a, election)
	_, err := take(a, election, old.Version, leaderOf(2, "one", time.Minute))
	if time.Since(seen) >= ttl {
		return false
	}
	if !errors.Is(err, tenure.ErrNotApplied) {
		t.Errorf("during the lease a bid returned %v, want ErrNotApplied", err)
	}
	must(t, conn.Ping(t.Context()))
	time.Sleep(ttl)
	evicts(t, a, election, old.Version, leaderOf(2, "one", time.Minute))
	if conn.Ping(t.Context()) == nil {
		t.Error("the zombie lives")
	}
	return true
}

// evicts has a bid take the place of a zombie. One that looks for the last time while the zombie goes is repeated, as
// candidates do.
func evicts(t testing.TB, a *Advisory, election string, old tenure.Version, record tenure.Record) {
	t.Helper()
	storetest.Eventually(t, "the zombie is evicted", func() bool {
		_, err := take(a, election, old, record)
		if err != nil && !errors.Is(err, tenure.ErrNotApplied) {
			t.Fatal(err)
		}
		return err == nil
	})
}

// A session of ours which is not the one in the row may be about to bid, and gets a second.
func TestZombieBidderIsEvicted(t *testing.T) {
	url := server(t)
	a := openLocked(t, url)
	old := storetest.Swap(t, a.table, "billing", "", vacated(leaderOf(1, "dead", time.Hour)))
	conn := zombie(t, a, url, "billing", "other")
	began := time.Now()
	evicts(t, a, "billing", old.Version, leaderOf(2, "one", time.Minute))
	if took := time.Since(began); took < lingering {
		t.Errorf("it was evicted after %v, want not before %v", took, lingering)
	}
	if conn.Ping(t.Context()) == nil {
		t.Error("the zombie lives")
	}
}

// The candidate's own session of an earlier term needs no wait.
func TestOwnZombieIsEvictedAtOnce(t *testing.T) {
	url := server(t)
	a := openLocked(t, url)
	old := storetest.Swap(t, a.table, "billing", "", leaderOf(1, "one", time.Hour))
	zombie(t, a, url, "billing", "one")
	evicts(t, a, "billing", old.Version, leaderOf(2, "one", time.Hour)) // whose lease goes on for an hour
}

// A leader whose row is renewed is never evicted, whoever bids. A machine that takes longer than a lease between two
// renewals gets longer leases.
func TestLivingLeaderIsNotEvicted(t *testing.T) {
	t.Parallel()
	url := server(t)
	inTime(t, 3*time.Second, func(ttl time.Duration) bool { return livesThrough(t, url, ttl) })
}

// livesThrough has a leader renew for two leases while another candidate bids, and reports whether it was always in
// time.
func livesThrough(t *testing.T, url string, ttl time.Duration) bool {
	t.Helper()
	a, b := openLocked(t, url), openLocked(t, url)
	election := "of leases of " + ttl.String()
	renewed := time.Now()
	now, err := take(a, election, "", leaderOf(1, "one", ttl))
	must(t, err)
	for end := time.Now().Add(2 * ttl); time.Now().Before(end); {
		seen := storetest.Load(t, b, election)
		_, err := take(b, election, seen.Version, leaderOf(2, "two", ttl))
		if err == nil && time.Since(renewed) < ttl {
			t.Fatal("another bid took the place of a living leader")
		}
		began, record := time.Now(), now.Record
		record.Renewals++
		if now, err = take(a, election, now.Version, record); time.Since(renewed) >= ttl {
			return false // another one may lead
		}
		must(t, err)
		if now.Revoked {
			t.Fatal("the living leader lost its lock")
		}
		renewed = began
	}
	return true
}

// rights makes two users who share the table and may not end each other's sessions.
func rights(t testing.TB, url string) (one, other string) {
	t.Helper()
	admin := openPool(t, url)
	names := make([]string, 2)
	for i := range names {
		names[i] = fmt.Sprintf("user_%d_%d", time.Now().UnixNano(), i)
		exec(t, admin, "CREATE ROLE "+names[i]+" LOGIN")
		exec(t, admin, "GRANT SELECT, INSERT, UPDATE, DELETE ON tenure, tenure_state TO "+names[i])
	}
	as := func(name string) string { return strings.Replace(url, "postgres@", name+"@", 1) }
	return as(names[0]), as(names[1])
}

func TestEvictionRefusedForLackOfRights(t *testing.T) {
	url := server(t)
	owner := openLocked(t, url)
	one, other := rights(t, url)
	a, err := NewAdvisory(openPool(t, one))
	must(t, err)
	defer a.Close()
	const ttl = 20 * time.Millisecond
	old := storetest.Swap(t, owner.table, "billing", "", leaderOf(1, "dead", ttl))
	conn := zombie(t, a, other, "billing", "dead")
	storetest.Load(t, a, "billing")
	time.Sleep(2 * ttl)
	_, err = take(a, "billing", old.Version, leaderOf(2, "one", time.Minute))
	if !errors.Is(err, tenure.ErrNotApplied) || errors.Is(err, tenure.ErrPermanent) || tenure.RetryAfter(err) == 0 {
		t.Errorf("without the right to end the zombie a bid returned %v, want ErrNotApplied and how long to wait", err)
	}
	must(t, conn.Ping(t.Context()))
	config, err := pgxpool.ParseConfig(one)
	must(t, err)
	exec(t, openPool(t, url), "GRANT pg_signal_backend TO "+config.ConnConfig.User)
	evicts(t, a, "billing", old.Version, leaderOf(2, "one", time.Minute))
}

// A term that nobody renews any more does not keep its lock.
func TestLockEndsWithTheLease(t *testing.T) {
	url := server(t)
	a := openLocked(t, url, seldom())
	admin := openPool(t, url)
	_, err := take(a, "billing", "", leaderOf(1, "one", 300*time.Millisecond))
	must(t, err)
	storetest.Eventually(t, "the lock is free", func() bool { return len(lockHolders(t, a, admin, "billing")) == 0 })
	if !storetest.Load(t, a, "billing").Revoked {
		t.Error("the term is not revoked")
	}
}

// What goes on with the row of a term that lost its lock goes over the pool: it is drained and given back.
func TestTermWithoutItsLockIsStillGivenBack(t *testing.T) {
	url := server(t)
	a := openLocked(t, url)
	admin := openPool(t, url)
	now, err := take(a, "billing", "", leaderOf(1, "one", time.Minute))
	must(t, err)
	var mu sync.Mutex
	var told []tenure.Snapshot
	stop, err := a.Watch(t.Context(), "billing", func(s tenure.Snapshot, err error) {
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			told = append(told, s)
		}
	})
	must(t, err)
	defer stop()
	exec(t, admin, "SELECT pg_terminate_backend($1)", backendOfLeader(t, a, admin))
	storetest.Eventually(t, "the loss is pushed", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(told) > 0 && told[len(told)-1].Revoked && told[len(told)-1].Version == now.Version
	})
	for range 2 {
		record := now.Record
		record.Renewals++
		now, err = take(a, "billing", now.Version, record)
		must(t, err)
		if !now.Revoked || !storetest.Load(t, a, "billing").Revoked {
			t.Error("a later state of the term is not revoked")
		}
	}
	now, err = take(a, "billing", now.Version, vacated(now.Record))
	must(t, err)
	if now.Revoked {
		t.Error("the vacant seat is revoked")
	}
	now, err = take(a, "billing", now.Version, leaderOf(2, "one", time.Minute))
	must(t, err)
	if now.Revoked || len(lockHolders(t, a, admin, "billing")) != 1 {
		t.Error("the next term has no lock")
	}
}

func TestCloseGivesUpLocksAndSaysSo(t *testing.T) {
	t.Parallel()
	url := server(t)
	a := openLocked(t, url)
	b := openLocked(t, url)
	c, err := tenure.New(a, "billing", tenure.WithTTL(20*time.Second))
	must(t, err)
	causes := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	leads := make(chan struct{}, 1)
	go func() {
		done <- c.Run(ctx, func(ctx context.Context, _ tenure.Term) error {
			leads <- struct{}{}
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return nil
		})
	}()
	<-leads
	must(t, a.Close())
	select {
	case cause := <-causes:
		if !errors.Is(cause, tenure.ErrRevoked) {
			t.Errorf("the term ended with %v, want ErrRevoked", cause)
		}
	case <-time.After(patience):
		t.Error("the term goes on")
	}
	cancel()
	<-done
	if n := len(lockHolders(t, b, b.table.pool, "billing")); n != 0 {
		t.Errorf("%d sessions hold the lock after Close", n)
	}
	if _, err := a.CompareAndSwap(t.Context(), "billing", "", held(1)); !errors.Is(err, tenure.ErrPermanent) {
		t.Errorf("after Close a bid returned %v, want ErrPermanent", err)
	}
	must(t, a.Close())
}

func TestCollidingLockIDs(t *testing.T) {
	url := server(t)
	if _, err := NewAdvisory(openPool(t, url), WithLockID("billing", 7), WithLockID("invoices", 7)); !errors.Is(err, tenure.ErrConfig) {
		t.Errorf("two elections with one ID: %v, want ErrConfig", err)
	}
	a := openLocked(t, url, WithLockID("billing", 7), WithLockID("other", LockID("public", "tenure", "reports")))
	b := openLocked(t, url, WithLockID("invoices", 7))
	if id := a.LockID("billing"); id != 7 {
		t.Errorf("the ID is %d, want 7", id)
	}
	_, err := take(a, "billing", "", leaderOf(1, "one", time.Minute))
	must(t, err)
	if _, err := take(b, "invoices", "", leaderOf(1, "two", time.Minute)); !errors.Is(err, tenure.ErrPermanent) {
		t.Errorf("in another process, the ID of another election: %v, want ErrPermanent", err)
	}
	other, err := take(a, "other", "", leaderOf(1, "one", time.Minute))
	must(t, err)
	_, err = take(a, "other", other.Version, vacated(other.Record)) // it may be led again at any time
	must(t, err)
	if _, err := take(a, "reports", "", leaderOf(1, "one", time.Minute)); !errors.Is(err, tenure.ErrPermanent) {
		t.Errorf("in the same process, the ID of another election: %v, want ErrPermanent", err)
	}
	if storetest.Load(t, a, "invoices").Exists() || storetest.Load(t, a, "reports").Exists() {
		t.Error("a bid with the ID of another election was written")
	}
}

func TestAdvisoryOptions(t *testing.T) {
	pool := openPool(t, "postgres://localhost/nowhere")
	for name, option := range map[string]Option{
		"validation too often":    WithValidation(minValidation-1, time.Second),
		"validation too seldom":   WithValidation(maxValidation+1, time.Second),
		"no time for the answer":  WithValidation(time.Second, 0),
		"too much for the answer": WithValidation(time.Second, maxValidation+1),
		"idle of half a second":   WithKeepalive(time.Second/2, time.Second, 1),
		"idle of 1.5 s":           WithKeepalive(1500*time.Millisecond, time.Second, 1),
		"interval of 3 h":         WithKeepalive(time.Second, 3*time.Hour, 1),
		"no probes":               WithKeepalive(time.Second, time.Second, 0),
		"too many probes":         WithKeepalive(time.Second, time.Second, maxProbes+1),
		"user timeout of 1 ms":    WithUserTimeout(time.Millisecond),
		"ID of no election":       WithLockID("", 7),
		"the table's":             WithTable(""),
	} {
		if _, err := NewAdvisory(pool, option); !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("%s: %v, want ErrConfig", name, err)
		}
	}
	if _, err := New(pool, WithLockID("billing", 7)); !errors.Is(err, tenure.ErrConfig) || !strings.Contains(err.Error(), "NewAdvisory") {
		t.Errorf("the option of a lock in New: %v, want ErrConfig and what to do", err)
	}
}

func TestSessionSettings(t *testing.T) {
	a := openLocked(t, server(t)+"&statement_timeout=1s&tcp_keepalives_interval=3&options=-c%20default_transaction_isolation%3Dserializable",
		WithKeepalive(7*time.Second, 2*time.Second, 4), WithUserTimeout(11*time.Second))
	_, err := take(a, "billing", "", leaderOf(1, "one", time.Minute))
	must(t, err)
	for name, want := range map[string]string{
		"tcp_keepalives_idle": "7", "tcp_keepalives_interval": "3", "tcp_keepalives_count": "4", "tcp_user_timeout": "11s",
		"statement_timeout": "0", "default_transaction_isolation": "read committed", "application_name": a.badge("billing", "one"),
	} {
		onSession(t, a, fmt.Sprintf(`DO $$ BEGIN
 IF current_setting('%s') NOT IN ('%s', '%s000') THEN RAISE '%s is %%', current_setting('%s'); END IF;
END $$`, name, want, strings.TrimSuffix(want, "s"), name, name))
	}
}

// A bid whose caller gave up while it waited for the row lands with its lock, or not at all.
func TestBidOfAnImpatientCaller(t *testing.T) {
	url := server(t)
	a := openLocked(t, url)
	admin := openPool(t, url)
	old := storetest.Swap(t, a.table, "billing", "", vacated(leaderOf(1, "one", time.Minute)))
	tx, err := admin.Begin(t.Context())
	must(t, err)
	exec(t, tx, "SELECT FROM tenure WHERE election = 'billing' FOR UPDATE")
	err = giveUp(t, a, admin, old.Version, leaderOf(2, "two", time.Minute))
	if !errors.Is(err, context.Canceled) || certainty.NotWritten(err) {
		t.Errorf("a bid whose caller gave up returned %v", err)
	}
	must(t, tx.Rollback(t.Context()))
	storetest.Eventually(t, "the bid lands", func() bool { return storetest.Load(t, a, "billing").Record.Token == 2 })
	storetest.Eventually(t, "the store has heard of it", func() bool { s, _ := a.holding("billing", term{}); return s != nil })
	if storetest.Load(t, a, "billing").Revoked || len(lockHolders(t, a, admin, "billing")) != 1 {
		t.Error("the term has no lock")
	}
}

// A bid that is slow does not end the session of one that was faster, however long it has seen that session before.
func TestSlowBidDoesNotEvictAFasterOne(t *testing.T) {
	url := server(t)
	a, b := openLocked(t, url), openLocked(t, url)
	old := storetest.Swap(t, a.table, "billing", "", vacated(leaderOf(1, "one", time.Minute)))
	seen := storetest.Load(t, b, "billing")
	_, err := take(a, "billing", old.Version, leaderOf(2, "one", time.Minute))
	must(t, err)
	h := lockHolders(t, a, a.table.pool, "billing")[0]
	slow := &bid{store: b, write: write{"billing", old.Version, leaderOf(2, "two", time.Minute)}, lock: b.LockID("billing"), seen: seen}
	b.refused.lingers("billing", h, termOf(seen.Record))
	time.Sleep(lingering)
	if err := slow.clear(t.Context(), true); !errors.Is(err, tenure.ErrConflict) {
		t.Errorf("the slow bid returned %v, want ErrConflict", err)
	}
	if len(lockHolders(t, a, a.table.pool, "billing")) != 1 || storetest.Load(t, a, "billing").Revoked {
		t.Error("the faster one lost its lock")
	}
}
