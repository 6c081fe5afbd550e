package postgres

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
)

const (
	// lookTimeout bounds one statement on the watching connection. What takes longer is an interruption.
	lookTimeout = 5 * time.Second
	// connectTimeout bounds the making of the watching connection.
	connectTimeout = 10 * time.Second
	// Pauses between two attempts to connect.
	firstPause, longestPause = 50 * time.Millisecond, 2 * time.Second
	// Pauses between two tries whether notifications arrive after all.
	firstTry, longestTry = 250 * time.Millisecond, time.Minute
	// sharingTries is how often it is looked whether a pooler shares the server's connections. Other clients can hide
	// it once: the connection that ours just left was given to them.
	sharingTries = 3
	// probeMark begins the payload of a notification that only tests whether one arrives. No election's name does.
	probeMark = "\n"
)

// run keeps a connection until ctx ends.
func (h *hub) run(ctx context.Context) {
	pause := firstPause
	for ctx.Err() == nil {
		served, err := h.session(ctx)
		if ctx.Err() != nil {
			return
		}
		h.fail(fmt.Errorf("postgres: watching: %w", err))
		if served {
			pause = firstPause
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
		pause = min(2*pause, longestPause)
	}
}

// session watches on one connection until it fails, and reports whether it ever worked.
func (h *hub) session(ctx context.Context) (served bool, err error) {
	conn, err := h.store.connect(ctx)
	if err != nil {
		return false, err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(closing)
	}()
	h.sessions.Add(1)
	h.restart()
	if err := h.look(ctx, conn); err != nil {
		return false, err
	}
	return true, h.watch(ctx, conn)
}

func (h *hub) watch(ctx context.Context, conn *pgx.Conn) error {
	subscribeAt, pause := time.Time{}, firstTry
	for {
		if now := time.Now(); !now.Before(subscribeAt) {
			if err := h.subscribe(ctx, conn); err != nil {
				return err
			}
			subscribeAt, pause = now.Add(pause), min(2*pause, longestTry)
			h.lookBy(subscribeAt)
		}
		if err := h.look(ctx, conn); err != nil {
			return err
		}
		if err := h.wait(ctx, conn); err != nil {
			return err
		}
	}
}

// connect makes a connection as the pool makes its own, but for nobody else.
func (s *Store) connect(ctx context.Context) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	pool := s.pool.Config()
	config := pool.ConnConfig
	// A wait that is given up must leave the connection as it is; other handlers would cancel what runs at the server.
	config.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.DeadlineContextWatcherHandler{Conn: c.Conn()}
	}
	if pool.BeforeConnect != nil {
		if err := pool.BeforeConnect(ctx, config); err != nil {
			return nil, err
		}
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err == nil && pool.AfterConnect != nil {
		if err = pool.AfterConnect(ctx, conn); err != nil {
			_ = conn.Close(ctx)
		}
	}
	return conn, err
}

// subscribe makes notifications arrive, or finds out that they do not. Then the watches poll.
func (h *hub) subscribe(ctx context.Context, conn *pgx.Conn) error {
	if h.hears() {
		return nil // a pooler is not put in between while the connection lasts
	}
	asking, cancel := context.WithTimeout(ctx, lookTimeout)
	pooled, err := throughPooler(asking, conn)
	cancel()
	if err != nil {
		return err
	}
	// A LISTEN that went to a server's connection of somebody else's next would stay behind there: what it brings
	// then makes poolers complain, and pgbouncer 1.18 abort.
	if pooled && h.store.sharesSessions(ctx) {
		return nil
	}
	if err := h.listen(ctx, conn, "LISTEN "); err != nil {
		return err
	}
	heard, err := h.probe(ctx, conn)
	if err != nil {
		return err
	}
	if !heard {
		return h.listen(ctx, conn, "UNLISTEN ")
	}
	h.listening()
	return nil
}

func (h *hub) hears() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.heard
}

func (h *hub) listen(ctx context.Context, conn *pgx.Conn, command string) error {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	_, err := conn.Exec(ctx, command+pgx.Identifier{h.store.layout.channel}.Sanitize())
	if hasState(err, readOnlyTransaction) {
		return fmt.Errorf("%w: %w", errStandby, err)
	}
	return err
}

// listening notes that from now on notifications arrive. What changed before is found by looking at all once more.
func (h *hub) listening() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.silent, h.heard = false, true
	h.sweepAt = time.Time{}
}

// probe reports whether notifications arrive, by sending one from another connection.
func (h *hub) probe(ctx context.Context, conn *pgx.Conn) (heard bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, h.store.config.probe)
	defer cancel()
	payload := probeMark + rand.Text()
	_, err = h.store.pool.Exec(ctx, `SELECT pg_notify($1::text, $2::text)`, pgx.QueryExecModeExec,
		h.store.layout.channel, payload)
	for err == nil && !heard {
		var n *pgconn.Notification
		if n, err = conn.WaitForNotification(ctx); err == nil {
			heard = n.Payload == payload
			h.note(n)
		}
	}
	if conn.IsClosed() {
		return false, err
	}
	return heard, nil
}

// sharesSessions reports whether a pooler gives the server's connection of one client to others between its
// transactions, or gives no answer. While another client is in a transaction, ours is then served elsewhere, or not at
// all. Any other pooler leaves every client its own.
func (s *Store) sharesSessions(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, s.config.probe)
	defer cancel()
	conn, err := s.connect(ctx)
	if err != nil {
		return true
	}
	defer func() { _ = conn.Close(ctx) }()
	for range sharingTries {
		if moved, err := s.moves(ctx, conn); moved || err != nil {
			return true
		}
	}
	return false
}

// moves reports whether the connection is served elsewhere while another client is in a transaction.
func (s *Store) moves(ctx context.Context, conn *pgx.Conn) (bool, error) {
	before, err := serverPID(ctx, conn)
	if err != nil {
		return false, err
	}
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	during, err := serverPID(ctx, conn)
	return before != during, err
}

// lookBy wakes the hub for the next try to subscribe, if there has to be one.
func (h *hub) lookBy(at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.silent {
		h.pollBy(at)
	}
}

// note takes in a notification.
func (h *hub) note(n *pgconn.Notification) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n.Channel == h.store.layout.channel && h.elections[n.Payload] != nil {
		h.due[n.Payload] = true
	}
}

// look looks up what is due, with one statement, and tells the watches.
func (h *hub) look(ctx context.Context, conn *pgx.Conn) error {
	h.deliverWritten()
	now := time.Now()
	elections, known := h.take(now)
	if len(elections) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	h.looks.Add(1)
	states, err := h.store.layout.loadMany(ctx, h.store.mode(conn), elections, known)
	for tries := 1; hasState(err, serializationFailure) && tries < maxTries; tries++ {
		states, err = h.store.layout.loadMany(ctx, h.store.mode(conn), elections, known)
	}
	if err == nil && slices.ContainsFunc(states, h.store.inDoubt) {
		err = h.store.confirm(ctx, h.store.mode(conn), states...)
	}
	if hasState(err, invalidStatementName, duplicateStatementName) {
		h.store.unprepared.Store(true)
	}
	if err != nil {
		return err
	}
	h.deliverFound(now, states)
	return nil
}

// loadMany reads the states of elections that differ from those known, each given by its mark.
func (l *layout) loadMany(ctx context.Context, q querier, elections, known []string) ([]found, error) {
	rows, err := q.Query(ctx, l.sql.loadMany, elections, known)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (found, error) {
		election, snapshot, err := scan(row)
		return found{election, snapshot}, err
	})
}

func floorMark(floor uint64) string { return "floor " + strconv.FormatUint(floor, 10) }

// wait returns when something may be due: after notifications, a nudge, or when the next poll is.
func (h *hub) wait(ctx context.Context, conn *pgx.Conn) error {
	waiting, cancel := context.WithDeadline(ctx, h.nextLook())
	defer cancel()
	h.mu.Lock()
	if h.nudged {
		cancel()
	}
	h.interrupt, h.nudged = cancel, false
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.interrupt = nil
	}()
	for {
		n, err := conn.WaitForNotification(waiting)
		switch {
		case err == nil:
			h.note(n)
			cancel() // the rest is what has arrived already
		case ctx.Err() != nil:
			return ctx.Err()
		case conn.IsClosed() || waiting.Err() == nil:
			return err
		default:
			return nil
		}
	}
}

func (h *hub) nextLook() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sweepAt.Before(h.pollAt) {
		return h.sweepAt
	}
	return h.pollAt
}
