package postgres

import (
	"context"
	_ "embed" // for the schema
	"fmt"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/tenure-go/tenure"
)

// schema holds the steps of the schema, each under a line "-- version N".
//
//go:embed schema.sql
var schema string

var stepHead = regexp.MustCompile(`(?m)^-- version \d+.*$`)

// steps returns the statements that lead from each version of the schema to the next.
func steps() []string {
	var all []string
	heads := stepHead.FindAllStringIndex(schema, -1)
	for i, head := range heads {
		end := len(schema)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		all = append(all, schema[head[0]:end])
	}
	return all
}

// MigrationSQL returns the statements by which [Store.Migrate] makes everything in an empty database, for teams that
// have a migration tool of their own. They are to be run once, in one transaction. Of the options WithSchema and
// WithTable matter. The error wraps [tenure.ErrConfig].
func MigrationSQL(options ...Option) (string, error) {
	c, err := newConfig(options)
	if err != nil {
		return "", fmt.Errorf("postgres: %w", err)
	}
	l, err := newLayout(c.schema, c.table)
	if err != nil {
		return "", fmt.Errorf("postgres: %w", err)
	}
	text := strings.Join(steps(), "\n")
	if l.schema != DefaultSchema {
		text = "CREATE SCHEMA IF NOT EXISTS {schema};\n\n" + text
	}
	return l.fill(text), nil
}

// MigrationOf returns [MigrationSQL] for the tables that a URL of [Open] or [OpenAdvisory] names. It connects to
// nothing.
func MigrationOf(rawURL string) (string, error) {
	t, err := parse(rawURL)
	if err != nil {
		return "", fmt.Errorf("postgres: %w", err)
	}
	return MigrationSQL(t.options...)
}

// Migrate makes the tables, the view and the schema, or brings those of an earlier version up to date. It does nothing
// if they are, and then needs no more rights than to use them. Any number of processes may call it at once: one does
// the work, in one transaction, and the others wait for it. With [WithExistingTables] it only checks. Beside it, only
// [Open] and [OpenAdvisory] create anything, where nothing is, and nothing ever alters what is there.
func (s *Store) Migrate(ctx context.Context) error {
	if s.closed.Load() {
		return fmt.Errorf("postgres: migrating: %w", errClosed)
	}
	if err := s.migrate(ctx, true); err != nil {
		return fmt.Errorf("postgres: migrating: %w", outcome(err))
	}
	return nil
}

// migrate makes the tables if there are none, and if upgrade brings older ones up to date.
func (s *Store) migrate(ctx context.Context, upgrade bool) error {
	version, err := onServer(ctx, s, func(q querier) (int, error) { return s.layout.version(ctx, q) })
	if err != nil || version == schemaVersion {
		return err
	}
	if err := refusal(version, schemaVersion, s.config.existing, upgrade); err != nil {
		return tenure.Permanent(err)
	}
	err = s.upgrade(ctx)
	if hasState(err, insufficientPrivilege) {
		return tenure.Permanent(fmt.Errorf("the tables are missing or older, and this user may not make them (%w): %s",
			err, asAdministrator))
	}
	return err
}

// asAdministrator says who can make the tables where the program may not.
const asAdministrator = "have somebody who may create tables run \"tenure migrate\", or the SQL of MigrationSQL " +
	"(\"tenure migrate --print\"), and grant their use as the store's README says"

// byMigration says how the tables come about where a program is not to make them.
const byMigration = "\"tenure migrate\" makes them, or the SQL that it prints with --print"

// refusal returns an error if tables of a version, 0 for none, are not to be made, or not to be brought to the wanted
// version unasked: programs of the older one may be at work.
func refusal(version, wanted int, existing, upgrade bool) error {
	switch {
	case version == 0 && existing:
		return fmt.Errorf("%w: the tables are missing: %s", tenure.ErrNoStore, byMigration)
	case version > 0 && (existing || !upgrade):
		return fmt.Errorf("the tables have version %d, this program needs %d: once no older program needs them as they "+
			"are, run \"tenure migrate\"", version, wanted)
	}
	return nil
}

func (s *Store) upgrade(ctx context.Context) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return acquired(err)
	}
	defer conn.Release()
	// What the one before has made must be seen once the lock is ours, whatever the database's default is.
	committed := pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite}
	return pgx.BeginTxFunc(ctx, conn, committed, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended($1::text, 0))`, s.layout.channel+" migrate")
		if err != nil {
			return err
		}
		return s.layout.upgrade(ctx, tx)
	})
}

// version returns the version of the schema, 0 if there is none.
func (l *layout) version(ctx context.Context, q querier) (int, error) {
	var there bool
	// Functions such as to_regclass may answer from a cache that is older than the lock that was waited for.
	err := q.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1::text AND c.relname = $2::text)`, l.schema, l.name+"_state").Scan(&there)
	if err != nil || !there {
		return 0, err
	}
	var version, readableBy int
	err = q.QueryRow(ctx, l.fill(`SELECT version, readable_by FROM {state}`)).Scan(&version, &readableBy)
	switch {
	case isNoRows(err):
		return 0, tenure.Permanent(errNoState)
	case err == nil && version > schemaVersion && readableBy <= schemaVersion:
		return schemaVersion, nil
	case err == nil && version > schemaVersion:
		return 0, tenure.Permanent(fmt.Errorf("the tables have version %d, this program knows %d: upgrade tenure",
			version, schemaVersion))
	}
	return version, err
}

// upgrade takes the steps that are missing.
func (l *layout) upgrade(ctx context.Context, tx pgx.Tx) error {
	version, err := l.version(ctx, tx)
	if err != nil {
		return err
	}
	if err := l.createSchema(ctx, tx); err != nil {
		return err
	}
	for _, step := range steps()[version:] {
		// Without arguments pgx sends several statements at once if it is told not to prepare them.
		if _, err := tx.Exec(ctx, l.fill(step), pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
	}
	return nil
}

// createSchema asks first: CREATE SCHEMA IF NOT EXISTS needs the right to create one even if it exists.
func (l *layout) createSchema(ctx context.Context, tx pgx.Tx) error {
	var there bool
	err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1::text)`, l.schema).Scan(&there)
	if err != nil || there {
		return err
	}
	_, err = tx.Exec(ctx, l.fill(`CREATE SCHEMA {schema}`))
	return err
}
