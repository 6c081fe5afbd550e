package sqltest

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testserver"
	"github.com/tenure-go/tenure/sqlstore"
)

// graded checks the grade, and that a reason speaks of what limits it first.
func graded(t *testing.T, d database, want tenure.Grade, reason string) {
	t.Helper()
	got, err := d.store(t).Guarantee(within(t))
	if err != nil {
		t.Fatal(err)
	}
	if got.Grade != want || len(got.Reasons) == 0 || !strings.Contains(got.Reasons[0], reason) {
		t.Errorf("the grade is %q for %q, want %q because of %q", got.Grade, got.Reasons, want, reason)
	}
}

func TestGuaranteeMariaDB(t *testing.T) {
	d := startMariaDB(t).database()
	graded(t, d, tenure.GradeExclusive, "on the disk")
	graded(t, d.with("autocommit=true"), tenure.GradeExclusive, "on the disk")
	graded(t, d.with("tx_isolation=%27READ-UNCOMMITTED%27"), tenure.GradeBestEffort, "READ UNCOMMITTED")

	logged := startMariaDB(t, "--log-bin", "--sync-binlog=0", "--server-id=1").database()
	graded(t, logged, tenure.GradeUntilFailover, "sync_binlog is 0")
	execute(t, logged.open(t), "SET GLOBAL sync_binlog = 1")
	graded(t, logged, tenure.GradeExclusive, "on the disk")
	execute(t, logged.open(t), "SET GLOBAL innodb_flush_log_at_trx_commit = 2")
	graded(t, logged, tenure.GradeUntilFailover, "innodb_flush_log_at_trx_commit is 2")
}

// With autocommit off an acknowledged write is none.
func TestGuaranteeWithoutAutocommit(t *testing.T) {
	d := startMariaDB(t).database()
	d.store(t)
	graded(t, d.with("autocommit=0"), tenure.GradeBestEffort, "autocommit is off")
}

func TestGuaranteePostgreSQL(t *testing.T) {
	d := startPostgreSQL(t).database()
	graded(t, d, tenure.GradeExclusive, "no replica")
	graded(t, d.with("synchronous_commit=off"), tenure.GradeUntilFailover, "synchronous_commit is off")
	graded(t, startPostgreSQL(t, "fsync=off").database(), tenure.GradeUntilFailover, "fsync is off")
}

func TestGuaranteeWithReplicaOfPostgreSQL(t *testing.T) {
	p := testserver.StartPostgres(t)
	primary := database{sqlstore.PostgreSQL{}, "pgx", p.URL()}
	store := primary.store(t)
	created, err := store.CompareAndSwap(within(t), "billing", "", tenure.Record{Token: 1})
	if err != nil {
		t.Fatal(err)
	}
	replica := database{sqlstore.PostgreSQL{}, "pgx", p.StartReplica(t, "r").URL()}
	await(t, primary, "SELECT count(*) FROM pg_stat_replication", 1)
	graded(t, primary, tenure.GradeUntilFailover, "1 replicas, none of which a commit waits for")
	graded(t, replica, tenure.GradeUntilFailover, "this server is a replica")
	_, err = replica.store(t).CompareAndSwap(within(t), "billing", created.Version, created.Record)
	if !errors.Is(err, tenure.ErrNotApplied) || !strings.Contains(err.Error(), "accepts no writes") {
		t.Errorf("a swap at the replica: %v, want ErrNotApplied that says why", err)
	}
	execute(t, primary.open(t), "ALTER SYSTEM SET synchronous_standby_names = 'r'\nSELECT pg_reload_conf()")
	await(t, primary, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'", 1)
	graded(t, primary, tenure.GradeExclusive, "a commit waits for the replicas")
}

func TestGuaranteeWithReplicaOfMariaDB(t *testing.T) {
	logged := startMariaDB(t, "--log-bin", "--sync-binlog=1", "--server-id=1")
	graded(t, logged.database(), tenure.GradeExclusive, "on the disk")
	_, port, _ := strings.Cut(logged.addr, ":")
	execute(t, startMariaDB(t, "--server-id=2").database().open(t), `CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = `+port+
		`, MASTER_USER = 'tenure', MASTER_PASSWORD = 'secret'
		START SLAVE`)
	await(t, logged.database(),
		"SELECT variable_value + 0 FROM information_schema.global_status WHERE variable_name = 'Slaves_connected'", 1)
	graded(t, logged.database(), tenure.GradeUntilFailover, "1 replicas, which follow asynchronously")
}

// await waits until a query, which nothing tells when to ask, returns a number.
func await(t *testing.T, d database, query string, want int) {
	t.Helper()
	db := d.open(t)
	storetest.Eventually(t, "there are "+strconv.Itoa(want)+" by "+query, func() bool {
		var got int
		err := db.QueryRowContext(within(t), query).Scan(&got)
		return err == nil && got == want
	})
}

func TestGuaranteeSQLite(t *testing.T) {
	d := sqlite(t)
	graded(t, d, tenure.GradeExclusive, "synced to the disk")
	graded(t, d.with("_pragma=synchronous(NORMAL)"), tenure.GradeUntilFailover, "synchronous is 1")
	rollback := sqlite(t)
	rollback.dsn, _, _ = strings.Cut(rollback.dsn, "?")
	graded(t, rollback.with("_pragma=journal_mode(MEMORY)"), tenure.GradeUntilFailover, "journal_mode is memory")
	memory := sqlite(t)
	memory.dsn = "file:" + strings.ReplaceAll(t.Name(), "/", "-") + "?mode=memory&cache=shared"
	graded(t, memory, tenure.GradeBestEffort, "no file")
}
