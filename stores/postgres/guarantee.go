package postgres

import (
	"context"
	"fmt"
	"regexp"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenure-go/tenure"
)

// durability is what decides how far a server's acknowledged writes can be relied upon, as our session sees it.
type durability struct {
	Recovery          bool
	ReadOnly          bool
	Fsync             bool
	FullPageWrites    bool
	SynchronousCommit string
	StandbyNames      string // synchronous_standby_names
	Standbys          int    // that are connected now
	Unlogged          bool
}

// durabilityText is read into durability. Of pg_stat_replication everybody sees how many rows there are.
const durabilityText = `SELECT pg_is_in_recovery(),
 current_setting('default_transaction_read_only')::boolean, current_setting('fsync')::boolean,
 current_setting('full_page_writes')::boolean, current_setting('synchronous_commit'),
 current_setting('synchronous_standby_names'),
 (SELECT count(*) FROM pg_stat_replication)::int,
 (SELECT coalesce(bool_or(relpersistence <> 'p'), false) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = $1::text AND c.relname IN ($2::text, $3::text))`

// Guarantee implements [tenure.Guarantor]: it asks the server for its settings as they are for this user, for its
// standbys, and for what kind of table the elections are in.
func (s *Store) Guarantee(ctx context.Context) (tenure.Guarantee, error) {
	pooled := false
	found, err := onServer(ctx, s, func(q querier) (durability, error) {
		rows, err := q.Query(ctx, durabilityText, s.layout.schema, s.layout.name, s.layout.name+"_state")
		if err != nil {
			return durability{}, err
		}
		found, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[durability])
		if err == nil {
			pooled, err = throughPooler(ctx, q)
		}
		return found, err
	})
	if err != nil {
		return tenure.Guarantee{}, fmt.Errorf("postgres: guarantee: %w", err)
	}
	g := found.guarantee()
	if reason := s.hub.poolerReason(pooled); reason != "" {
		g.Reasons = append(g.Reasons, reason)
	}
	return g, nil
}

func (d durability) guarantee() tenure.Guarantee {
	g := tenure.Guarantee{Grade: tenure.GradeExclusive}
	for _, limit := range d.limits() {
		g.Reasons = append(g.Reasons, limit.reason)
		g.Grade = min(g.Grade, limit.grade)
	}
	if g.Grade == tenure.GradeExclusive {
		g.Reasons = append(g.Reasons, d.strength())
	}
	return g
}

type limit struct {
	grade  tenure.Grade
	reason string
}

// limits returns what makes the guarantee weaker, the most limiting first.
func (d durability) limits() []limit {
	var all []limit
	add := func(applies bool, grade tenure.Grade, reason string) {
		if applies {
			all = append(all, limit{grade, reason})
		}
	}
	add(d.Recovery, tenure.GradeUnknown, errStandby.Error())
	add(d.ReadOnly, tenure.GradeUnknown, "default_transaction_read_only is on: nothing can be written")
	add(d.Unlogged, tenure.GradeUntilFailover, "the table is unlogged: a crash empties it, and standbys do not have it")
	add(!d.Fsync, tenure.GradeUntilFailover, "fsync is off: a loss of power takes back acknowledged writes")
	add(!d.FullPageWrites, tenure.GradeUntilFailover, "full_page_writes is off: a loss of power can damage the table")
	add(d.SynchronousCommit == "off", tenure.GradeUntilFailover,
		"synchronous_commit is off: a crash of the server takes back the last acknowledged writes; turn it on for this "+
			"user with ALTER ROLE … SET synchronous_commit = on")
	add(d.asynchronous(), tenure.GradeUntilFailover, fmt.Sprintf(
		"%d standbys are fed asynchronously: if one is promoted, the last acknowledged writes may be missing", d.Standbys))
	add(d.StandbyNames != "" && d.SynchronousCommit == "local", tenure.GradeUntilFailover,
		"synchronous_commit is local: a commit does not wait for the synchronous standbys")
	add(d.StandbyNames != "" && d.SynchronousCommit == "remote_write", tenure.GradeUntilFailover,
		"synchronous_commit is remote_write: a standby acknowledges what it has not yet on its disk")
	return all
}

func (d durability) asynchronous() bool { return d.Standbys > 0 && d.StandbyNames == "" }

func (d durability) strength() string {
	if d.StandbyNames != "" {
		text := "every acknowledged write is on this server's disk and on that of the synchronous standbys (" +
			d.StandbyNames + "), as long as no other standby than one of them is promoted"
		if n := waitsFor(d.StandbyNames); d.Standbys > n {
			text += fmt.Sprintf("; a commit waits for %d of the %d standbys that are connected: promote only one that has all "+
				"that they acknowledged", n, d.Standbys)
		}
		return text
	}
	return "every acknowledged write is on this server's disk, and no standby is connected; a backup that is " +
		"restored, or a standby that is added and promoted, may lack the last of them"
}

// counted is the beginning of synchronous_standby_names where it says how many of them a commit waits for.
var counted = regexp.MustCompile(`(?i)^\s*(?:(?:first|any)\s+)?(\d+)\s*\(`)

// waitsFor returns for how many standbys a commit waits.
func waitsFor(names string) int {
	if found := counted.FindStringSubmatch(names); found != nil {
		if n, err := strconv.Atoi(found[1]); err == nil {
			return n
		}
	}
	return 1
}

// throughPooler reports whether the session at the server is another than the one that was dialled.
func throughPooler(ctx context.Context, q querier) (bool, error) {
	at, err := serverPID(ctx, q)
	if err != nil {
		return false, err
	}
	switch conn := bare(q).(type) {
	case *pgxpool.Conn:
		return conn.Conn().PgConn().PID() != at, nil
	case *pgx.Conn:
		return conn.PgConn().PID() != at, nil
	}
	return false, nil
}

// serverPID returns the process that serves the connection now.
func serverPID(ctx context.Context, q querier) (pid uint32, err error) {
	err = bare(q).QueryRow(ctx, `SELECT pg_backend_pid()`, pgx.QueryExecModeExec).Scan(&pid)
	return pid, err
}

// bare returns what an unprepared querier is made of.
func bare(q querier) querier {
	if u, ok := q.(unprepared); ok {
		return u.querier
	}
	return q
}

// poolerReason says what a pooler means for the watches.
func (h *hub) poolerReason(pooled bool) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.sessions.Load() > 0 && h.silent && pooled:
		return "notifications do not arrive, as behind a pooler in transaction mode: watches poll instead"
	case pooled && !h.heard:
		return "the server is reached through a pooler: if it is in transaction mode, notifications do not arrive, and " +
			"watches poll instead"
	}
	return ""
}
