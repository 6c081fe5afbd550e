// Command receiver is the other side of the outbox: an HTTP endpoint that takes each message once, however often it is
// delivered.
package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// The key is kept as long as a message may be repeated; here for ever.
const schema = `CREATE TABLE IF NOT EXISTS inbox (
	number  bigint GENERATED ALWAYS AS IDENTITY,
	key     text   PRIMARY KEY,
	payload text   NOT NULL
)`

func main() {
	if err := run(); err != nil {
		slog.Error("the receiver failed", "error", err)
		os.Exit(1)
	}
}

func run() error {
	database := flag.String("database", os.Getenv("DATABASE_URL"), "`URL` of the receiver's own database")
	listen := flag.String("listen", "localhost:8080", "`address` to listen on")
	flag.Parse()
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, *database)
	if err != nil {
		return err
	}
	defer pool.Close()
	if _, err := pool.Exec(ctx, schema); err != nil {
		return err
	}
	server := &http.Server{Addr: *listen, Handler: inbox{pool}, ReadTimeout: 10 * time.Second}
	return server.ListenAndServe()
}

type inbox struct{ pool *pgxpool.Pool }

// ServeHTTP takes a message. A repeated one is answered as a new one is: its sender has not heard the first answer.
func (i inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := r.Header.Get("Idempotency-Key")
	payload, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if key == "" {
		err = errors.Join(err, errors.New("the header Idempotency-Key is missing"))
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	repeated, err := i.take(r.Context(), key, string(payload))
	if err != nil {
		slog.Error("not taken", "key", key, "error", err)
		http.Error(w, "try again", http.StatusServiceUnavailable)
		return
	}
	slog.Info("taken", "key", key, "repeated", repeated)
}

// take does what the message is for, in one transaction with the note of its key. Here the note is all there is to do.
func (i inbox) take(ctx context.Context, key, payload string) (repeated bool, err error) {
	done, err := i.pool.Exec(ctx, "INSERT INTO inbox (key, payload) VALUES ($1, $2) ON CONFLICT DO NOTHING", key, payload)
	return err == nil && done.RowsAffected() == 0, err
}
