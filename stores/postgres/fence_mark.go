package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/tenure-go/tenure/fence"
)

// Mark is the highest fencing token that a resource has accepted, kept in a database that need not be that of the
// elections. The table is that of [fence.Guard], whose Migrate makes it, and whose Advance does the same for
// transactions of database/sql.
type Mark struct {
	// Resource is what is guarded: 1 to 255 bytes of UTF-8.
	Resource string
	// Election is the one that the tokens are of. Tokens of different elections cannot be compared.
	Election string
	// Schema and Table name the table; empty for [DefaultSchema] and tenure_fence.
	Schema, Table string
}

const defaultMarks = "tenure_fence"

// advanceText makes the mark or raises it, and locks it. It finds nothing to do if a higher one is there.
const advanceText = `
INSERT INTO {table} AS m (resource, election, token, advances) VALUES ($1::text, $2::text, $3::bigint, 1)
ON CONFLICT (resource, election) DO UPDATE SET token = EXCLUDED.token, advances = m.advances + 1
WHERE m.token <= EXCLUDED.token`

// Advance raises the mark to token within the transaction that writes to the resource, and keeps it locked until that
// ends. Call it before anything else in the transaction, in every transaction that writes to the resource. The error
// is a [fence.StaleError] if a higher token was accepted; roll back then. Any other error is the server's, and means
// that the transaction is to be rolled back, too: run it again after a serialization failure (SQLSTATE 40001).
//
// Unlike [Fence] it works in any database, makes transactions of one resource run one after the other, and lets a
// deposed leader write until its successor has advanced the mark. It is one statement, and one more for a refusal.
func (m Mark) Advance(ctx context.Context, tx pgx.Tx, token uint64) error {
	table, err := m.table()
	if err == nil {
		err = fence.Check(m.Resource, m.Election, token)
	}
	if err == nil {
		err = m.advance(ctx, tx, table, token)
	}
	if err != nil {
		return fmt.Errorf("postgres: advancing the mark of %q: %w", m.Resource, err)
	}
	return nil
}

func (m Mark) advance(ctx context.Context, tx pgx.Tx, table string, token uint64) error {
	done, err := tx.Exec(ctx, fill(advanceText, table), m.Resource, m.Election, int64(token))
	if err != nil || done.RowsAffected() > 0 {
		return err
	}
	const held = "SELECT token FROM {table} WHERE resource = $1::text AND election = $2::text"
	var highest int64
	if err := tx.QueryRow(ctx, fill(held, table), m.Resource, m.Election).Scan(&highest); err != nil {
		return err
	}
	return &fence.StaleError{Resource: m.Resource, Token: token, Mark: uint64(highest)}
}

func (m Mark) table() (string, error) {
	schema, name := m.Schema, m.Table
	if schema == "" {
		schema = DefaultSchema
	}
	if name == "" {
		name = defaultMarks
	}
	err := errors.Join(checkIdentifier("schema", schema, maxIdentifier), checkIdentifier("table", name, maxIdentifier))
	return pgx.Identifier{schema, name}.Sanitize(), err
}
