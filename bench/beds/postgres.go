package beds

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenure-go/tenure/bench"
	"github.com/tenure-go/tenure/internal/testserver"
	"github.com/tenure-go/tenure/stores/postgres"
)

// Postgres is the table in PostgreSQL: changes of leader are pushed, renewals are looked for by one batched poll of
// each process, a fifth of the TTL apart.
func Postgres() bench.Bed {
	return bench.Bed{
		Name: "postgres", About: "lease table; fsync on; changes of leader pushed, renewals polled",
		Aim:   bench.Aim{Renewal: 1.5, FailOver: 1.2},
		Start: startPostgres(openPostgres()), Open: openPostgres(),
	}
}

// PostgresPush is the same with renewals pushed too.
func PostgresPush() bench.Bed {
	open := openPostgres(postgres.WithPushedRenewals(true))
	return bench.Bed{
		Name: "postgres-push", About: "lease table; fsync on; changes of leader and renewals pushed",
		Aim: bench.Aim{Renewal: 1.5}, Start: startPostgres(open), Open: open,
	}
}

// PostgresAdvisory is the table, with a session lock besides.
func PostgresAdvisory() bench.Bed {
	return bench.Bed{
		Name: "postgres-advisory", About: "lease table and session lock; fsync on; changes of leader pushed",
		Aim: bench.Aim{Renewal: 1.5, FailOver: 1.2}, Start: startPostgres(openAdvisory), Open: openAdvisory,
	}
}

func openAdvisory(ctx context.Context, address string) (bench.Store, error) {
	return postgres.OpenAdvisory(ctx, address+"&mode=advisory")
}

func openPostgres(options ...postgres.Option) opener {
	return func(ctx context.Context, address string) (bench.Store, error) {
		return postgres.Open(ctx, address, options...)
	}
}

type postgresServer struct {
	*testserver.Postgres

	open    opener
	pool    *pgxpool.Pool
	version string
}

// The harness is a user of its own, so that the server tells its statements from those of the stores.
const postgresSetUp = `
CREATE EXTENSION pg_stat_statements;
CREATE EXTENSION pgstattuple;
CREATE ROLE bench SUPERUSER LOGIN;
CREATE TABLE bare (id integer PRIMARY KEY, changes bigint NOT NULL, value bytea NOT NULL) WITH (fillfactor = 50);
`

func startPostgres(open opener) func(testserver.TB) (bench.Server, error) {
	return func(tb testserver.TB) (bench.Server, error) {
		ctx := context.Background()
		server := testserver.StartPostgres(tb,
			"shared_preload_libraries=pg_stat_statements", "max_connections=600", "track_io_timing=off")
		p := &postgresServer{Postgres: server, open: open}
		owner, err := pgxpool.New(ctx, server.URL())
		if err != nil {
			return nil, err
		}
		defer owner.Close()
		if _, err := owner.Exec(ctx, postgresSetUp); err != nil {
			return nil, fmt.Errorf("setting up: %w", err)
		}
		store, err := postgres.New(owner)
		if err != nil {
			return nil, err
		}
		defer func() { _ = store.Close() }()
		if err := store.Migrate(ctx); err != nil {
			return nil, err
		}
		tb.Cleanup(func() { p.pool.Close() })
		return p, p.connect(ctx)
	}
}

// connect makes the harness's own connections and the bare values.
func (p *postgresServer) connect(ctx context.Context) error {
	config, err := pgxpool.ParseConfig(p.URL())
	if err != nil {
		return err
	}
	config.ConnConfig.User, config.MaxConns = "bench", bench.BareValues
	if p.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return err
	}
	if _, err = p.pool.Exec(ctx, `INSERT INTO bare SELECT id, 0, $2 FROM generate_series(0, $1) id`,
		bench.BareValues-1, bareValue); err != nil {
		return err
	}
	return p.pool.QueryRow(ctx, `SELECT 'PostgreSQL ' || current_setting('server_version')`).Scan(&p.version)
}

func (p *postgresServer) Version() string { return p.version }

func (p *postgresServer) Address() string { return p.URL() }

func (p *postgresServer) Open(ctx context.Context) (bench.Store, error) { return p.open(ctx, p.URL()) }

func (p *postgresServer) Ping(ctx context.Context) error {
	var one int
	return p.pool.QueryRow(ctx, `SELECT 1`).Scan(&one)
}

func (p *postgresServer) Write(ctx context.Context, value int) error {
	_, err := p.pool.Exec(ctx, `UPDATE bare SET changes = changes + 1, value = $2 WHERE id = $1`, value, bareValue)
	return err
}

// The numbers of updates are not exact, since a session tells of them a second after the last time, or when it has been
// idle for ten; their proportion is.
const postgresCounts = `
SELECT (SELECT coalesce(sum(calls), 0) FROM pg_stat_statements s JOIN pg_roles r ON r.oid = s.userid
         WHERE r.rolname <> 'bench'),
 (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND usename <> 'bench'),
 pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0'),
 (SELECT wal_fpi FROM pg_stat_wal),
 (SELECT sum((pgstattuple(relid)).dead_tuple_count) FROM pg_stat_user_tables),
 (SELECT sum(pg_table_size(relid)) FROM pg_stat_user_tables),
 (SELECT coalesce(100.0 * sum(n_tup_hot_upd) / nullif(sum(n_tup_upd), 0), 0) FROM pg_stat_user_tables
   WHERE relname <> 'bare')`

// Counts implements [bench.Counter].
func (p *postgresServer) Counts(ctx context.Context) (bench.Counts, error) {
	var requests, connections, wal, pages, dead, size, hot float64
	err := p.pool.QueryRow(ctx, postgresCounts).Scan(&requests, &connections, &wal, &pages, &dead, &size, &hot)
	return bench.Counts{
		bench.Requests: requests, bench.Connections: connections, bench.WALBytes: wal, bench.FullPages: pages,
		bench.DeadRows: dead, bench.TableBytes: size, bench.HotShare: hot,
	}, err
}
