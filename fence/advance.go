package fence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/tenure-go/tenure/sqlstore"
)

// marking are the statements about marks.
type marking struct{ raise, lock, read, add string }

func markingOf(syntax sqlstore.Syntax, table string) marking {
	p := syntax.Placeholder
	is := func(n int) string { return fmt.Sprintf("resource = %s AND election = %s", p(n), p(n+1)) }
	select1 := fmt.Sprintf("SELECT token FROM %s WHERE %s", table, is(1))
	row := fmt.Sprintf("%s (resource, election, token, advances) VALUES (%s, %s, 0, 0)", table, p(1), p(2))
	return marking{
		// The count makes every statement change its row: some drivers report rows that were changed, not found.
		raise: fmt.Sprintf("UPDATE %s SET token = %s, advances = advances + 1 WHERE %s AND token <= %s",
			table, p(1), is(2), p(4)),
		// Locking, it also reads the newest state where a plain SELECT would read the transaction's snapshot.
		lock: select1 + " " + syntax.ForUpdate,
		read: select1,
		add:  fmt.Sprintf(syntax.InsertNew, row),
	}
}

// errVanished: somebody deletes marks while they are used.
var errVanished = errors.New("the mark vanishes as soon as it is made")

// advance raises the mark by one statement, which compares and locks at once. Only if that finds nothing to raise it
// looks why, and makes a mark that was missing.
func (g *Guard) advance(ctx context.Context, tx *sql.Tx, m mark) error {
	for range 2 {
		token := int64(m.token)
		raised, err := changed(tx.ExecContext(ctx, g.statements.raise, token, m.resource, m.election, token))
		if raised || err != nil {
			return err
		}
		var found int64
		err = tx.QueryRowContext(ctx, g.statements.lock, m.resource, m.election).Scan(&found)
		switch {
		case err == nil && uint64(found) > m.token:
			return &StaleError{Resource: m.resource, Token: m.token, Mark: uint64(found)}
		case err != nil && !errors.Is(err, sql.ErrNoRows):
			return err
		}
		if _, err := tx.ExecContext(ctx, g.statements.add, m.resource, m.election); err != nil {
			return err
		}
	}
	return errVanished
}

func changed(result sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	rows, err := result.RowsAffected()
	return rows > 0, err
}
