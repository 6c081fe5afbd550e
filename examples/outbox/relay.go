package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/leaderhttp"
	"github.com/tenure-go/tenure/stores/postgres"
)

type relay struct {
	pool   *pgxpool.Pool
	client *http.Client
	to     string
	every  time.Duration
}

// message is a row of the outbox.
type message struct {
	id      int64
	payload string
}

// lead relays one message after the other, until the term ends. A database or an endpoint that fails is tried again:
// returning would end Run.
func (r *relay) lead(ctx context.Context, term tenure.Term) error {
	for ctx.Err() == nil {
		relayed, err := r.relayNext(ctx, term)
		switch {
		case relayed:
			continue
		case errors.Is(err, tenure.ErrDeposed):
			slog.Warn("another relay was elected", "error", err)
			<-ctx.Done() // the term is over; its context is about to end
		case err != nil && ctx.Err() == nil:
			slog.Warn("not relayed, and tried again", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(r.every):
		}
	}
	return ctx.Err()
}

// relayNext relays the first message that is left, and reports whether there was one.
//
// It is delivered first and marked afterwards, so that none is lost. If this process dies, freezes or is deposed
// between the two, the next leader delivers it once more: no transaction of this database can undo what was sent to
// another system. There the key tells the second delivery from a new message.
func (r *relay) relayNext(ctx context.Context, term tenure.Term) (relayed bool, err error) {
	m, err := r.pending(ctx)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err == nil {
		err = r.deliver(ctx, term, m)
	}
	if err == nil {
		err = r.mark(ctx, term, m)
	}
	return err == nil, err
}

func (r *relay) pending(ctx context.Context) (m message, err error) {
	const first = "SELECT id, payload FROM outbox WHERE relayed_under IS NULL ORDER BY id LIMIT 1"
	err = r.pool.QueryRow(ctx, first).Scan(&m.id, &m.payload)
	return m, err
}

func (r *relay) deliver(ctx context.Context, term tenure.Term, m message) error {
	body := strings.NewReader(m.payload)
	req, err := http.NewRequestWithContext(leaderhttp.WithTerm(ctx, term), http.MethodPost, r.to, body)
	if err != nil {
		return err
	}
	req.Header.Set("Idempotency-Key", fmt.Sprintf("outbox-%d", m.id))
	resp, err := r.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("delivering message %d: %s", m.id, resp.Status)
	}
	return nil
}

// mark records that a message was relayed, unless somebody else was elected: the fence lets the transaction commit only
// under the newest term. So each message is marked once, by the leader whose turn it was.
func (r *relay) mark(ctx context.Context, term tenure.Term, m message) error {
	tx, err := r.pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // does nothing after Commit
	if err := postgres.Fence(ctx, tx, term); err != nil {
		return err
	}
	const done = "UPDATE outbox SET relayed_under = $2, relayed_at = now() WHERE id = $1 AND relayed_under IS NULL"
	if _, err := tx.Exec(ctx, done, m.id, int64(term.Token)); err != nil {
		return err
	}
	return tx.Commit(ctx)
}
