// Command outbox relays the rows of an outbox table in PostgreSQL to an HTTP endpoint, in their order. Any number of
// them can run: one relays, and what a deposed one has done does not count, since it cannot commit.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/leaderhttp"
	"github.com/tenure-go/tenure/stores/postgres"
)

//go:embed schema.sql
var schema string

func main() {
	if err := run(); err != nil {
		slog.Error("the relay failed", "error", err)
		os.Exit(1)
	}
}

func run() error {
	var (
		database = flag.String("database", os.Getenv("DATABASE_URL"), "`URL` of the database with outbox and elections")
		to       = flag.String("to", "http://localhost:8080/", "`URL` that the messages are posted to")
		id       = flag.String("id", fmt.Sprintf("relay-%d", os.Getpid()), "`name` of this relay")
		ttl      = flag.Duration("ttl", tenure.DefaultTTL, "how long after a failure the next relay takes over")
		every    = flag.Duration("every", time.Second, "how often to look for new rows")
		migrate  = flag.Bool("migrate", false, "make the tables, and do nothing else")
	)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	pool, err := pgxpool.New(ctx, *database)
	if err != nil {
		return err
	}
	defer pool.Close()
	// The elections have to be in the database of the outbox: that is what lets one transaction see both.
	store, err := postgres.New(pool)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }() // ends its watch; what it wrote is written
	if *migrate {
		_, err := pool.Exec(ctx, schema)
		return errors.Join(err, store.Migrate(ctx))
	}
	candidate, err := tenure.New(store, "outbox",
		tenure.WithID(*id), tenure.WithTTL(*ttl), tenure.WithLogger(slog.Default()))
	if err != nil {
		return err
	}
	r := &relay{
		pool: pool, to: *to, every: *every,
		// The transport sends nothing once the term is over by the clock. The timeout lets go of an endpoint that hangs.
		client: &http.Client{Transport: leaderhttp.NewTransport(nil), Timeout: *ttl},
	}
	if err := candidate.Run(ctx, r.lead); !errors.Is(err, context.Canceled) {
		return err
	}
	slog.Info("stopped, and the seat is given back", "id", *id)
	return nil
}
