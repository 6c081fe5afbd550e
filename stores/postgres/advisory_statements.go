package postgres

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenure-go/tenure"
)

// isLock is the condition of a row of pg_locks that is of our lock. A 64-bit ID is kept in two halves, and objsubid
// says that they are of one number. The same ID in another database is another lock.
const isLock = `locktype = 'advisory' AND granted AND objsubid = 1
 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
 AND classid = ((($1::bigint) >> 32) & 4294967295)::oid AND objid = (($1::bigint) & 4294967295)::oid`

// validateText asks which session this is, and whether it has the lock.
const validateText = `SELECT pg_backend_pid(),
 EXISTS (SELECT FROM pg_locks WHERE ` + isLock + ` AND pid = pg_backend_pid() AND mode = 'ExclusiveLock')`

// holdersText names who has the lock. That of an application is shown to everybody.
const holdersText = `SELECT l.pid, coalesce(a.application_name, ''), l.mode = 'ExclusiveLock'
FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
WHERE ` + isLock + ` ORDER BY l.pid LIMIT 2`

// evictText ends a session if it is still what it was found to be, and the row as well: a bid that is slow must not end
// the session of one that was faster. One that may be about to bid is in a statement. Whether it is, only its own role
// and those who read all statistics are told.
const evictText = `SELECT count(pg_terminate_backend(l.pid))::int
FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
WHERE ` + isLock + ` AND l.mode = 'ExclusiveLock' AND l.pid = $2::int AND a.application_name = $3::text
 AND (NOT $4::boolean OR coalesce(a.state, 'idle') = 'idle')
 AND coalesce((SELECT version::text FROM {table} WHERE election = $5::text), '') = $6::text`

// prepareText makes a connection ready to hold a lock: by its name others know it, the server notices when its other
// end is gone, and no setting of the user's breaks in.
const prepareText = `SELECT pg_backend_pid(), set_config('application_name', $1::text, false),
 set_config('tcp_keepalives_idle', $2::text, false), set_config('tcp_keepalives_interval', $3::text, false),
 set_config('tcp_keepalives_count', $4::text, false), set_config('tcp_user_timeout', $5::text, false),
 set_config('statement_timeout', '0', false), set_config('default_transaction_isolation', 'read committed', false)`

// The statements that take and give back the lock are those that write the row, with the lock in them:
//
// The lock comes before the row is touched, and only with it anything is written. If nothing is, it is given back at
// once. Of parameters 20 to 22 the first is the lock, the second whether it has yet to be taken, the third the badge.
const (
	boundText   = `WITH bound AS MATERIALIZED (SELECT set_config('lock_timeout', $3::text, true) AS timeout)`
	lockedBound = `WITH lock AS MATERIALIZED (
 SELECT CASE WHEN $21::boolean THEN pg_try_advisory_lock($20::bigint) ELSE true END AS got
), bound AS MATERIALIZED (SELECT set_config('lock_timeout', $3::text, true) AS timeout FROM lock WHERE got)`
	writtenText   = "\nSELECT version::text, renewal, "
	lockedWritten = `
SELECT got, CASE WHEN got AND $21::boolean AND version IS NULL THEN pg_advisory_unlock($20::bigint) END,
 CASE WHEN version IS NOT NULL THEN set_config('application_name', $22::text, false) END, version::text, renewal, `
	fromText   = "\nFROM written"
	lockedFrom = "\nFROM lock LEFT JOIN written ON true"
	// An unlock takes effect at once, and the notification of the same statement when it commits: whoever is woken finds
	// the lock free.
	unlockedFrom = ",\n pg_advisory_unlock($20::bigint)\nFROM written"
)

func locked(text string) string {
	return strings.NewReplacer(boundText, lockedBound, writtenText, lockedWritten, fromText, lockedFrom).Replace(text)
}

func unlocked(text string) string { return strings.NewReplacer(fromText, unlockedFrom).Replace(text) }

// write is a swap.
type write struct {
	election string
	old      tenure.Version
	record   tenure.Record
}

// args returns the parameters 1 to 19 of a statement that writes a row, which never tells of a renewal.
func (w write) args(l *layout, timeout time.Duration) ([]any, error) {
	row, err := rowOf(w.record)
	if err != nil {
		return nil, err
	}
	var expected *string
	if w.old != "" {
		if !isVersion(w.old) {
			return nil, tenure.ErrConflict
		}
		expected = (*string)(&w.old)
	}
	milliseconds := strconv.FormatInt(max(timeout.Milliseconds(), 1), 10)
	args := append([]any{w.election, expected, milliseconds}, row...)
	return append(args, false, l.channel), nil
}

// take is the statement that begins a term. It reports whether the lock was got; if it was and the row was not as
// expected, the error is a [tenure.ErrConflict] and the lock is free again. With any other error it may be taken.
func (l *layout) take(
	ctx context.Context, q querier, w write, timeout time.Duration, lock int64, yet bool, badge string,
) (_ tenure.Snapshot, got bool, _ error) {
	args, err := w.args(l, timeout)
	if err != nil {
		return tenure.Snapshot{}, false, err
	}
	text := l.sql.replace
	if w.old == "" {
		text = l.sql.create
	}
	var unlocked, renewal *bool
	var named, version, told *string
	err = q.QueryRow(ctx, locked(text), append(args, lock, yet, badge)...).
		Scan(&got, &unlocked, &named, &version, &renewal, &told)
	switch {
	case err != nil || !got:
		return tenure.Snapshot{}, false, err
	case version == nil:
		return tenure.Snapshot{}, true, tenure.ErrConflict
	}
	return tenure.Snapshot{Version: tenure.Version(*version), Record: stored(w.record)}, true, nil
}

// giveBack is the statement that ends a term and frees its lock. A [tenure.ErrConflict] leaves the lock as it is.
func (l *layout) giveBack(
	ctx context.Context, q querier, w write, timeout time.Duration, lock int64,
) (tenure.Snapshot, error) {
	args, err := w.args(l, timeout)
	if err != nil {
		return tenure.Snapshot{}, err
	}
	if w.old == "" {
		return tenure.Snapshot{}, tenure.ErrConflict // a term that is led has a row
	}
	var version string
	var renewal, free bool
	var told *string
	err = q.QueryRow(ctx, unlocked(l.sql.replace), append(args, lock)...).Scan(&version, &renewal, &told, &free)
	if isNoRows(err) {
		return tenure.Snapshot{}, tenure.ErrConflict
	}
	return tenure.Snapshot{Version: tenure.Version(version), Record: stored(w.record)}, err
}

// holders returns up to two sessions that have a lock.
func holders(ctx context.Context, q querier, lock int64) ([]holder, error) {
	rows, err := q.Query(ctx, holdersText, lock)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (h holder, err error) {
		err = row.Scan(&h.pid, &h.name, &h.exclusive)
		return h, err
	})
}
