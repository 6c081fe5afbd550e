package sqlstore

import (
	"context"
	"database/sql"

	"github.com/tenure-go/tenure"
)

const postgresqlSettings = `SELECT current_setting('fsync'), current_setting('full_page_writes'),
 current_setting('synchronous_commit'), current_setting('synchronous_standby_names'), pg_is_in_recovery(),
 (SELECT count(*) FROM pg_stat_replication)`

// Guarantee implements [Dialect]: exclusive with fsync and synchronous_commit on and no asynchronous replica.
func (PostgreSQL) Guarantee(ctx context.Context, conn *sql.Conn) (tenure.Guarantee, error) {
	var fsync, pages, commit, standbys string
	var recovery bool
	var replicas int
	err := conn.QueryRowContext(ctx, postgresqlSettings).Scan(&fsync, &pages, &commit, &standbys, &recovery, &replicas)
	if err != nil {
		return tenure.Guarantee{}, err
	}
	j := judge()
	const until = tenure.GradeUntilFailover
	j.limit(recovery, until, "this server is a replica: it accepts no writes until it is promoted")
	j.limit(fsync != "on", until, "fsync is %s: a power cut can take acknowledged writes back, or damage them", fsync)
	j.limit(pages != "on", until, "full_page_writes is %s: a power cut can damage the tables", pages)
	j.limit(commit == "off", until, "synchronous_commit is off: a crash can take acknowledged writes back")
	waits := standbys != "" && commit != "local" && commit != "off"
	j.limit(replicas > 0 && !waits, until,
		"%d replicas, none of which a commit waits for: promoting one can take acknowledged writes back", replicas)
	j.limit(waits, tenure.GradeExclusive, "a commit waits for the replicas in synchronous_standby_names, %q; "+
		"promote no other one", standbys)
	j.limit(replicas == 0 && !waits, tenure.GradeExclusive, "no replica is connected, so none can be promoted")
	j.limit(j.Grade == tenure.GradeExclusive, tenure.GradeExclusive,
		"every commit is on the disk before it is acknowledged (fsync on, synchronous_commit %s)", commit)
	return j.Guarantee, nil
}
