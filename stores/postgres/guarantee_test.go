package postgres

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testserver"
)

func checkGuarantee(t *testing.T, s *Store, grade tenure.Grade, reason string) {
	t.Helper()
	g, err := s.Guarantee(t.Context())
	must(t, err)
	if g.Grade != grade || len(g.Reasons) == 0 || !strings.Contains(g.Reasons[0], reason) {
		t.Errorf("the guarantee is %v, want %v because of %q", g, grade, reason)
	}
}

func TestGuaranteeOfOneServer(t *testing.T) {
	url := server(t)
	checkGuarantee(t, openStore(t, url), tenure.GradeExclusive, "no standby is connected")
	for parameter, reason := range map[string]string{
		"synchronous_commit=off":                "synchronous_commit is off",
		"options=-c%20synchronous_commit%3Doff": "ALTER ROLE",
	} {
		checkGuarantee(t, newTestStore(t, openPool(t, url+"&"+parameter)), tenure.GradeUntilFailover, reason)
	}
	readOnly := newTestStore(t, openPool(t, url+"&default_transaction_read_only=on"))
	checkGuarantee(t, readOnly, tenure.GradeUnknown, "default_transaction_read_only")
	s := openStore(t, url)
	exec(t, s.pool, "ALTER TABLE tenure SET UNLOGGED")
	checkGuarantee(t, s, tenure.GradeUntilFailover, "unlogged")
}

func TestGuaranteeWithoutSync(t *testing.T) {
	t.Parallel()
	pg := testserver.StartPostgres(t, "fsync=off", "full_page_writes=off")
	s := openStore(t, pg.URL())
	checkGuarantee(t, s, tenure.GradeUntilFailover, "fsync is off")
	g, err := s.Guarantee(t.Context())
	must(t, err)
	if len(g.Reasons) < 2 || !strings.Contains(g.Reasons[1], "full_page_writes") {
		t.Errorf("the reasons are %q", g.Reasons)
	}
}

func TestGuaranteeWithStandbys(t *testing.T) {
	t.Parallel()
	pg := testserver.StartPostgres(t)
	s := openStore(t, pg.URL())
	standby := pg.StartReplica(t, "second")
	storetest.Eventually(t, "the standby is connected", func() bool {
		return scalar[int](t, s.pool, "SELECT count(*)::int FROM pg_stat_replication") == 1
	})
	checkGuarantee(t, s, tenure.GradeUntilFailover, "1 standbys are fed asynchronously")
	exec(t, s.pool, "ALTER SYSTEM SET synchronous_standby_names = 'second'")
	exec(t, s.pool, "SELECT pg_reload_conf()")
	storetest.Eventually(t, "the standby is synchronous", func() bool {
		return scalar[string](t, s.pool, "SELECT sync_state FROM pg_stat_replication") == "sync"
	})
	checkGuarantee(t, newTestStore(t, openPool(t, pg.URL())), tenure.GradeExclusive, "synchronous standbys (second)")
	for _, setting := range []string{"local", "remote_write"} {
		weaker := newTestStore(t, openPool(t, pg.URL()+"&synchronous_commit="+setting))
		checkGuarantee(t, weaker, tenure.GradeUntilFailover, "synchronous_commit is "+setting)
	}
	checkGuarantee(t, newTestStore(t, openPool(t, standby.URL())), tenure.GradeUnknown, "standby")
}

// Of more standbys than a commit waits for, not every one may be promoted.
func TestGuaranteeCountsTheStandbysThatCommitsWaitFor(t *testing.T) {
	for names, waits := range map[string]int{
		"*": 1, "a, b": 1, "2 (a, b)": 2, "FIRST 1 (a, b)": 1, "any 2(a,b,c)": 2, `ANY  3 ( "x y", b, c )`: 3, `"2 (a)"`: 1,
	} {
		d := durability{
			Fsync: true, FullPageWrites: true, SynchronousCommit: "on", StandbyNames: names, Standbys: waits,
		}
		if g := d.guarantee(); g.Grade != tenure.GradeExclusive || strings.Contains(g.Reasons[0], "a commit waits for") {
			t.Errorf("%s with %d standbys: %v", names, waits, g)
		}
		d.Standbys++
		want := fmt.Sprintf("a commit waits for %d of the %d standbys", waits, d.Standbys)
		if g := d.guarantee(); g.Grade != tenure.GradeExclusive || !strings.Contains(g.Reasons[0], want) {
			t.Errorf("%s with %d standbys: %v, want that %s", names, d.Standbys, g, want)
		}
	}
}
