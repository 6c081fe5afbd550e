package sqltest

import (
	"strings"
	"testing"

	"github.com/tenure-go/tenure"
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
