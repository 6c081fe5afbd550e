package fence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/tenure-go/tenure"
)

// Row is a row of a table of the user's own that carries its mark itself, in a column of integers of 64 bits, so that
// no table of marks is needed and rows do not wait for each other. All rows of a table belong to one election.
type Row struct {
	// Schema of the table, empty for that of the connection.
	Schema string
	// Table that holds the row.
	Table string
	// KeyColumn identifies the row by being equal to Key. It should be the primary key.
	KeyColumn string
	// Key is its value.
	Key any
	// TokenColumn holds the mark. NULL counts as 0.
	TokenColumn string
}

// AdvanceRow raises the mark in a row of the user's own table to token, within the transaction that changes the row,
// and keeps the row locked until that transaction ends. It needs no table of marks. Names are quoted, so that they are
// to be given as the database has them, letter case included.
//
// Errors are those of [Guard.Advance], and one that wraps [sql.ErrNoRows] if there is no such row.
func (g *Guard) AdvanceRow(ctx context.Context, tx *sql.Tx, row Row, token uint64) error {
	err := checkToken(token)
	if err == nil {
		err = g.advanceRow(ctx, tx, row, token)
	}
	if err != nil {
		return fmt.Errorf("fence: advancing a row of %q: %w", row.Table, err)
	}
	return nil
}

func (g *Guard) advanceRow(ctx context.Context, tx *sql.Tx, row Row, token uint64) error {
	raise, lock, err := g.rowStatements(row)
	if err != nil {
		return err
	}
	for range 2 {
		raised, err := changed(tx.ExecContext(ctx, raise, int64(token), row.Key, int64(token)))
		if raised || err != nil {
			return err
		}
		var found int64
		err = tx.QueryRowContext(ctx, lock, row.Key).Scan(&found)
		switch {
		case err != nil:
			return err
		case uint64(found) > token:
			return &StaleError{Resource: fmt.Sprint(row.Table, " ", row.Key), Token: token, Mark: uint64(found)}
		case uint64(found) == token:
			return nil // found, locked, and not changed: a driver that counts changed rows says that there was none
		}
	}
	return errors.New("the row changes though it is locked")
}

func (g *Guard) rowStatements(row Row) (raise, lock string, err error) {
	table, err := g.syntax.Table(row.Schema, row.Table)
	if err != nil {
		return "", "", err
	}
	if row.KeyColumn == "" || row.TokenColumn == "" {
		return "", "", fmt.Errorf("%w: the columns of key and token need names", tenure.ErrConfig)
	}
	p, key, mark := g.syntax.Placeholder, g.syntax.Quote(row.KeyColumn), g.syntax.Quote(row.TokenColumn)
	raise = fmt.Sprintf("UPDATE %s SET %s = %s WHERE %s = %s AND COALESCE(%s, 0) <= %s",
		table, mark, p(1), key, p(2), mark, p(3))
	lock = fmt.Sprintf("SELECT COALESCE(%s, 0) FROM %s WHERE %s = %s %s", mark, table, key, p(1), g.syntax.ForUpdate)
	return raise, lock, nil
}
