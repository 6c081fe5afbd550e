package sqlstore

import (
	"context"
	"database/sql"
	"strings"

	"github.com/tenure-go/tenure"
)

// The two statements return names and values, so that a variable that a server does not have is no error.
const (
	mysqlVariables = `SHOW VARIABLES WHERE Variable_name IN ('innodb_flush_log_at_trx_commit', 'innodb_doublewrite',
 'log_bin', 'sync_binlog', 'read_only', 'autocommit', 'wsrep_on', 'transaction_isolation', 'tx_isolation')`
	mysqlStatus = `SHOW GLOBAL STATUS WHERE Variable_name IN ('Slaves_connected')`
)

// Guarantee implements [Dialect]: exclusive with innodb_flush_log_at_trx_commit and sync_binlog at 1 and no replica.
// Replication of MySQL and MariaDB is asynchronous at least when a replica is slow, semi-synchronous included. MySQL
// does not tell every user whether there are replicas; then a binary log is taken to mean that there can be.
func (MySQL) Guarantee(ctx context.Context, conn *sql.Conn) (tenure.Guarantee, error) {
	is := settings{}
	for _, statement := range []string{mysqlVariables, mysqlStatus} {
		if err := is.read(ctx, conn, statement); err != nil {
			return tenure.Guarantee{}, err
		}
	}
	j := judge()
	is.session(j)
	is.durability(j)
	is.replication(j)
	return j.Guarantee, nil
}

// settings are variables of a server, by names in lower case.
type settings map[string]string

func (is settings) read(ctx context.Context, conn *sql.Conn, statement string) error {
	return forEach(ctx, conn, func(rows *sql.Rows) error {
		var name, value string
		err := rows.Scan(&name, &value)
		is[strings.ToLower(name)] = value
		return err
	}, statement)
}

func (is settings) on(name string) bool { return is[name] == "ON" || is[name] == "1" }

func (is settings) session(j *judgement) {
	isolation := is["transaction_isolation"] + is["tx_isolation"] // older servers have only the latter
	j.limit(!is.on("autocommit"), tenure.GradeBestEffort,
		"autocommit is off on this connection: a write can be acknowledged and never committed")
	j.limit(strings.Contains(isolation, "READ-UNCOMMITTED"), tenure.GradeBestEffort,
		"the isolation level is READ UNCOMMITTED: a candidate can see a win that is never committed")
	j.limit(is.on("read_only"), tenure.GradeUntilFailover, "read_only is on: the server is a replica, or was demoted")
}

func (is settings) durability(j *judgement) {
	flush, sync := is["innodb_flush_log_at_trx_commit"], is["sync_binlog"]
	j.limit(flush != "1", tenure.GradeUntilFailover,
		"innodb_flush_log_at_trx_commit is %s: a crash can take acknowledged writes back", flush)
	j.limit(is.on("log_bin") && sync != "1", tenure.GradeUntilFailover, "sync_binlog is %s with a binary log: "+
		"after a power cut what is not in the log is rolled back, or missing on replicas", sync)
	j.limit(is["innodb_doublewrite"] == "OFF", tenure.GradeUntilFailover,
		"innodb_doublewrite is OFF: a power cut can damage the tables")
	j.limit(flush == "1", tenure.GradeExclusive,
		"every commit is on the disk before it is acknowledged (innodb_flush_log_at_trx_commit is 1)")
}

func (is settings) replication(j *judgement) {
	connected, told := is["slaves_connected"]
	switch {
	case is.on("wsrep_on"):
		j.limit(true, tenure.GradeUntilFailover, "a Galera cluster: commits reach the other nodes before they are "+
			"acknowledged, but not their disks, so that the loss of power of all nodes can take them back")
	case !is.on("log_bin"):
		j.limit(true, tenure.GradeExclusive, "there is no binary log, so there are no replicas to be promoted")
	case told && connected == "0":
		j.limit(true, tenure.GradeExclusive, "no replica is connected; promoting one that was can take writes back")
	case told:
		j.limit(true, tenure.GradeUntilFailover,
			"%s replicas, which follow asynchronously: promoting one can take acknowledged writes back", connected)
	default:
		j.limit(true, tenure.GradeUntilFailover, "there is a binary log, so there can be replicas, which follow "+
			"asynchronously: promoting one can take acknowledged writes back")
	}
}
