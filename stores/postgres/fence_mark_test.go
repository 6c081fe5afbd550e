package postgres

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/fence"
	"github.com/tenure-go/tenure/sqlstore"
)

// marked is a database without elections, with the table of marks and a ledger.
func marked(t *testing.T) (*site, *fence.Guard) {
	t.Helper()
	s := &site{pool: openPool(t, server(t))}
	guard, err := fence.New(sqlstore.PostgreSQL{})
	must(t, err)
	db := stdlib.OpenDBFromPool(s.pool)
	t.Cleanup(func() { _ = db.Close() })
	must(t, guard.Migrate(context.Background(), db))
	exec(t, s.pool, "CREATE TABLE ledger (token bigint NOT NULL)")
	return s, guard
}

var ledgerMark = Mark{Resource: "ledger", Election: "e"}

func (s *site) advanced(t *testing.T, token uint64) pgx.Tx {
	t.Helper()
	tx := s.begin(t, pgx.ReadCommitted)
	must(t, ledgerMark.Advance(context.Background(), tx, token))
	exec(t, tx, "INSERT INTO ledger VALUES ($1)", int64(token))
	return tx
}

func TestMarkRefusesADeposedLeader(t *testing.T) {
	s, guard := marked(t)
	for _, token := range []uint64{7, 7, 9} {
		must(t, s.advanced(t, token).Commit(t.Context()))
	}
	err := ledgerMark.Advance(t.Context(), s.begin(t, pgx.ReadCommitted), 8)
	var stale *fence.StaleError
	if !errors.As(err, &stale) || stale.Token != 8 || stale.Mark != 9 || !errors.Is(err, fence.ErrStale) {
		t.Errorf("%v, want a StaleError of token 8 below 9", err)
	}
	other := Mark{Resource: "ledger", Election: "another"}
	must(t, other.Advance(t.Context(), s.begin(t, pgx.ReadCommitted), 1)) // has tokens of its own
	db := stdlib.OpenDBFromPool(s.pool)
	defer db.Close()
	if mark, err := guard.Mark(t.Context(), db, "ledger", "e"); err != nil || mark != 9 {
		t.Errorf("package fence finds the mark %d, %v; want 9", mark, err)
	}
}

func TestMarkMakesLeadersWaitForEachOther(t *testing.T) {
	s, _ := marked(t)
	must(t, s.advanced(t, 7).Commit(t.Context()))
	newer := s.advanced(t, 8)
	older := s.begin(t, pgx.ReadCommitted)
	done := make(chan error, 1)
	go func() { done <- ledgerMark.Advance(context.Background(), older, 7) }()
	s.awaitBlocked(t)
	must(t, newer.Commit(t.Context()))
	if err := <-done; !errors.Is(err, fence.ErrStale) {
		t.Errorf("the deposed leader that waited is told %v, want ErrStale", err)
	}
}

func TestMarkInAnOldSnapshot(t *testing.T) {
	for _, level := range []pgx.TxIsoLevel{pgx.RepeatableRead, pgx.Serializable} {
		s, _ := marked(t)
		must(t, s.advanced(t, 7).Commit(t.Context()))
		old := s.begin(t, level)
		exec(t, old, "SELECT count(*) FROM ledger")
		must(t, s.advanced(t, 8).Commit(t.Context()))
		if err := ledgerMark.Advance(t.Context(), old, 7); !hasState(err, "40001") {
			t.Errorf("%s: %v, want SQLSTATE 40001", level, err)
		}
	}
}

func TestMarkRefusesWrongInput(t *testing.T) {
	s, _ := marked(t)
	tx := s.begin(t, pgx.ReadCommitted)
	for name, refused := range map[string]error{
		"no resource":    Mark{Election: "e"}.Advance(t.Context(), tx, 1),
		"no election":    Mark{Resource: "ledger"}.Advance(t.Context(), tx, 1),
		"no token":       ledgerMark.Advance(t.Context(), tx, 0),
		"token too high": ledgerMark.Advance(t.Context(), tx, tenure.MaxToken+1),
		"no table":       Mark{Resource: "ledger", Election: "e", Table: "\x00"}.Advance(t.Context(), tx, 1),
	} {
		if !errors.Is(refused, tenure.ErrConfig) {
			t.Errorf("%s: %v, want ErrConfig", name, refused)
		}
	}
	must(t, ledgerMark.Advance(t.Context(), tx, 1)) // nothing was sent before
}
