package postgres

// statements are what a store sends, for the names of its tables. Every parameter says its type, so that they work in
// each of pgx's ways to run a query, as behind a pooler that knows no prepared statements.
type statements struct {
	load, loadMany, list         string
	replace, create              string
	lockState, prune, raiseFloor string
}

// columns are read by scan, in this order. The row is missing if version is null.
const columns = `pg_is_in_recovery(), s.readable_by, s.floor, t.version::text, t.token, t.leader, t.session,
 (extract(epoch FROM t.ttl) * 1000000)::bigint, t.renewals, t.address, t.metadata::text, t.reserved, t.forgotten,
 t.request::text, t.pause::text, t.extra::text, t.leader_elected_at, t.leader_renewed_at`

// Parameters 1 to 16 of replace and create are the election, the expected version (a null for create), the lock
// timeout, the record (see rowOf), and whether a mere renewal is told to others too.
//
// A lock timeout of a session would be lost on the next server of a pooler, or stay behind with it: it is set within
// the statement, for its transaction alone, before the row is locked. The notification belongs to the same transaction.
const replaceText = `
WITH bound AS MATERIALIZED (SELECT set_config('lock_timeout', $3::text, true) AS timeout),
written AS (
 UPDATE {table} SET
  renewal = token = $4::bigint AND leader = $5::text AND session = $6::text AND renewals < $8::bigint
   AND reserved = $11::text AND forgotten = $12::boolean
   AND request IS NOT DISTINCT FROM $13::jsonb AND pause IS NOT DISTINCT FROM $14::jsonb,
  elected_at = CASE WHEN token = $4::bigint THEN elected_at ELSE clock_timestamp() END,
  renewed_at = CASE WHEN token = $4::bigint AND session = $6::text AND renewals = $8::bigint
   THEN renewed_at ELSE clock_timestamp() END,
  changed_at = clock_timestamp(), version = gen_random_uuid(),
  token = $4::bigint, leader = $5::text, session = $6::text, ttl = $7::bigint * interval '1 microsecond',
  renewals = $8::bigint, address = $9::text, metadata = $10::jsonb, reserved = $11::text, forgotten = $12::boolean,
  request = $13::jsonb, pause = $14::jsonb, extra = $15::json,
  leader_elected_at = $16::timestamptz, leader_renewed_at = $17::timestamptz
 WHERE election = $1::text AND version = $2::uuid AND (SELECT timeout FROM bound) IS NOT NULL
 RETURNING version, renewal
)
SELECT version::text, renewal, CASE WHEN $18::boolean OR NOT renewal THEN pg_notify($19::text, $1::text)::text END
FROM written`

// A new record has to stand above the floor. The lock on it makes a create wait for a Prune that is about to raise it,
// and see what it was raised to. Of two creates at once either unique index may be what the second one meets.
const createText = `
WITH bound AS MATERIALIZED (SELECT set_config('lock_timeout', $3::text, true) AS timeout),
state AS MATERIALIZED (SELECT floor FROM {state} WHERE (SELECT timeout FROM bound) IS NOT NULL FOR SHARE),
written AS (
 INSERT INTO {table} (election, token, leader, session, ttl, renewals, address, metadata, reserved, forgotten,
  request, pause, extra, leader_elected_at, leader_renewed_at)
 SELECT $1::text, $4::bigint, $5::text, $6::text, $7::bigint * interval '1 microsecond', $8::bigint, $9::text,
  $10::jsonb, $11::text, $12::boolean, $13::jsonb, $14::jsonb, $15::json, $16::timestamptz, $17::timestamptz
 FROM state WHERE $2::uuid IS NULL AND ($4::bigint > floor OR ($5::text = '' AND $4::bigint = floor))
 ON CONFLICT DO NOTHING
 RETURNING version, renewal
)
SELECT version::text, renewal, CASE WHEN $18::boolean OR NOT renewal THEN pg_notify($19::text, $1::text)::text END
FROM written`

func newStatements(l *layout) statements {
	return statements{
		load: l.fill(`SELECT $1::text, ` + columns + ` FROM {state} s LEFT JOIN {table} t ON t.election = $1::text`),
		// Only what differs from the version known: of most elections nothing is sent.
		loadMany: l.fill(`SELECT w.election, ` + columns + `
FROM {state} s CROSS JOIN unnest($1::text[], $2::text[]) AS w(election, known)
LEFT JOIN {table} t ON t.election = w.election
WHERE w.known IS DISTINCT FROM coalesce(t.version::text, 'floor ' || s.floor)`),
		list:    l.fill(`SELECT election FROM {table} ORDER BY election`),
		replace: l.fill(replaceText),
		create:  l.fill(createText),

		lockState: l.fill(`SELECT floor FROM {state} FOR UPDATE`),
		prune: l.fill(`
WITH gone AS (
 DELETE FROM {table} WHERE election IN (
  SELECT election FROM {table}
  WHERE leader = '' AND pause IS NULL AND changed_at <= clock_timestamp() - $1::bigint * interval '1 microsecond'
  FOR UPDATE SKIP LOCKED
 )
 RETURNING election, token
)
SELECT election, token FROM gone ORDER BY election`),
		raiseFloor: l.fill(`
WITH raised AS (UPDATE {state} SET floor = $1::bigint)
SELECT count(pg_notify($3::text, name)::text)::int FROM unnest($2::text[]) AS name`),
	}
}
