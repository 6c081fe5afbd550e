package postgres

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testserver"
)

// pooled starts a pooler before the server of a database, and returns the URL of the database through it.
func pooled(t *testing.T, url, mode string, settings ...string) string {
	t.Helper()
	pooler := testserver.StartPgBouncer(t, shared.Server(t), mode, settings...)
	return strings.Replace(url, shared.Server(t).Addr, pooler.Addr, 1)
}

func TestAdvisoryRefusesPoolersThatShareSessions(t *testing.T) {
	for name, settings := range map[string][]string{
		"transaction": nil, "statement": nil, "transaction, in turns": {"server_round_robin = 1", "min_pool_size = 3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := server(t)
			direct := openLocked(t, url)
			mode, _, _ := strings.Cut(name, ",")
			through := pooled(t, url, mode, settings...)
			a, err := NewAdvisory(openPool(t, through))
			must(t, err)
			defer a.Close()
			c, err := tenure.New(a, "billing", tenure.WithTTL(fleet.TTL))
			must(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			err = c.Run(ctx, func(context.Context, tenure.Term) error {
				t.Error("somebody leads")
				return nil
			})
			if !errors.Is(err, tenure.ErrPermanent) || !strings.Contains(err.Error(), "pooler") {
				t.Errorf("Run returned %v, want ErrPermanent and why", err)
			}
			if storetest.Load(t, direct, "billing").Exists() {
				t.Error("a bid was written")
			}
			if n := len(lockHolders(t, direct, direct.table.pool, "billing")); n != 0 {
				t.Errorf("%d sessions hold the lock", n)
			}
			for range 10 { // in whatever order the pooler has its connections by now
				if _, err := a.Guarantee(ctx); !errors.Is(err, tenure.ErrPermanent) {
					t.Errorf("Guarantee returned %v, want ErrPermanent", err)
				}
			}
			if opened, err := OpenAdvisory(ctx, through+"&mode=advisory"); !errors.Is(err, tenure.ErrPermanent) {
				t.Errorf("OpenAdvisory returned %v, %v, want ErrPermanent", opened, err)
			}
		})
	}
}

// Other clients keep the pooler busy, so that which session one gets is anybody's guess.
func TestAdvisoryRefusesABusyPooler(t *testing.T) {
	url := server(t)
	openLocked(t, url)
	through := pooled(t, url, "transaction")
	ctx, cancel := context.WithCancel(t.Context())
	var others sync.WaitGroup
	defer others.Wait()
	defer cancel()
	busy := openPool(t, through+"&default_query_exec_mode=exec&pool_max_conns=4")
	for range 4 {
		others.Go(func() {
			for ctx.Err() == nil {
				_, _ = busy.Exec(ctx, "SELECT pg_sleep(0.002)")
			}
		})
	}
	for range 10 {
		a, err := NewAdvisory(openPool(t, through))
		must(t, err)
		if _, err := take(a, "billing", "", leaderOf(1, "one", time.Minute)); !errors.Is(err, tenure.ErrPermanent) {
			t.Errorf("a bid returned %v, want ErrPermanent", err)
		}
		must(t, a.Close())
	}
}

// A pooler that shares sessions and was not found out is noticed when the session behind the connection is another.
func TestAdvisoryNoticesAPoolerLater(t *testing.T) {
	url := server(t)
	openLocked(t, url)
	a, err := NewAdvisory(openPool(t, pooled(t, url, "transaction")+"&default_query_exec_mode=exec"),
		WithValidation(10*time.Millisecond, 10*time.Second))
	must(t, err)
	defer a.Close()
	a.direct.Store(true)
	_, err = take(a, "billing", "", leaderOf(1, "one", time.Hour))
	must(t, err)
	storetest.Eventually(t, "the loss of the session is noticed", func() bool {
		tx, err := a.table.pool.Begin(t.Context()) // takes the session that was used last, unless it is validated just then
		must(t, err)
		defer tx.Rollback(context.Background())
		exec(t, tx, "SELECT 1")
		time.Sleep(100 * time.Millisecond) // some 10 validations
		return storetest.Load(t, a, "billing").Revoked
	})
}

func TestAdvisoryBehindASessionPooler(t *testing.T) {
	url := server(t)
	openLocked(t, url)
	through := pooled(t, url, "session")
	a, err := OpenAdvisory(t.Context(), through+"&mode=advisory&migrate=true")
	must(t, err)
	defer a.Close()
	b := openLocked(t, through)
	admin := openPool(t, url)
	m := newCrew(t, steady(), a, b)
	who, token := m.leader()
	if n := len(lockHolders(t, a, admin, "billing")); n != 1 {
		t.Errorf("%d sessions hold the lock, want one", n)
	}
	m.keeps(who, token, time.Second)
	must(t, m.candidates[who].Resign(t.Context()))
	if next, _ := m.after(token); next == who {
		t.Error("the leader that resigned leads again")
	}
}

func TestOpenAdvisory(t *testing.T) {
	url := server(t)
	a, err := OpenAdvisory(t.Context(), url+"&mode=advisory&migrate=true&table=elections", WithLockID("billing", 7))
	must(t, err)
	if a.table.layout.name != "elections" || a.LockID("billing") != 7 {
		t.Errorf("table %q, lock ID %d", a.table.layout.name, a.LockID("billing"))
	}
	g, err := a.Guarantee(t.Context())
	must(t, err)
	if g.Grade != tenure.GradeExclusive || !strings.Contains(strings.Join(g.Reasons, " "), "advisory lock") {
		t.Errorf("guarantee %+v", g)
	}
	must(t, a.Close())
	if _, err := a.Load(t.Context(), "billing"); !errors.Is(err, tenure.ErrPermanent) {
		t.Errorf("after Close: %v, want ErrPermanent", err)
	}
	b, err := OpenAdvisory(t.Context(), url+"&mode=advisory&validate=2s&validate_timeout=7s")
	must(t, err)
	if b.config.every != 2*time.Second || b.config.patience != 7*time.Second {
		t.Errorf("the lock is validated every %v, within %v", b.config.every, b.config.patience)
	}
	must(t, b.Close())
	if _, err := Open(t.Context(), url+"&validate=2s"); !errors.Is(err, tenure.ErrConfig) {
		t.Errorf("a validation without a lock: %v, want ErrConfig", err)
	}
	for what, address := range map[string]string{
		"a validation of nothing": url + "&mode=advisory&validate=soon", "one too often": url + "&mode=advisory&validate=1ns",
		"the other mode": url + "&mode=table", "no mode": url, "an unknown mode": url + "&mode=both", "no URL": "billing",
	} {
		if _, err := OpenAdvisory(t.Context(), address); !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("%s: %v, want ErrConfig", what, err)
		}
	}
	for address, want := range map[string]string{url: ModeTable, url + "&mode=advisory": ModeAdvisory} {
		if got, err := Mode(address); err != nil || got != want {
			t.Errorf("the mode of %q is %q, %v; want %q", address, got, err, want)
		}
	}
}
