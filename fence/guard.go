package fence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/sqlstore"
)

// Guard keeps, in a table of the database that it guards, the highest token that each resource has accepted. It holds
// no connection. All methods are safe for concurrent use.
type Guard struct {
	dialect    sqlstore.Dialect
	syntax     sqlstore.Syntax
	table      string // quoted
	statements marking
}

// New returns a guard for a kind of database; the dialects are those of package sqlstore. It makes no call: see
// [Guard.Migrate] for the table. The error wraps [tenure.ErrConfig] if dialect is nil or an option is out of bounds.
func New(dialect sqlstore.Dialect, options ...Option) (*Guard, error) {
	if dialect == nil {
		return nil, fmt.Errorf("fence: %w: New needs a dialect", tenure.ErrConfig)
	}
	c, syntax := newConfig(options), dialect.Syntax()
	table, err := syntax.Table(c.schema, c.table)
	if err != nil {
		return nil, fmt.Errorf("fence: %w", err)
	}
	return &Guard{dialect: dialect, syntax: syntax, table: table, statements: markingOf(syntax, table)}, nil
}

// Advance raises the mark of a resource to token, within the transaction that writes to the resource, and keeps the
// mark locked until that transaction ends. Call it before anything else in the transaction, in every transaction that
// writes to the resource. election names the one that the token is of; each election has a mark of its own, since
// tokens of different elections cannot be compared. Both names have 1 to 255 bytes of UTF-8 without control characters.
//
// If it returns nil, no transaction with a higher token has committed, and none will commit before this one, since it
// waits for the lock. If a higher token was accepted, the error is a [StaleError]; roll back then. Without the table of
// marks it is [ErrNoTable]. Any other error is the database's, and nothing is known; roll back as well. Deadlocks and
// serialization failures are among them: run the whole transaction again, as with any other statement that writes. A
// token that no term can have, and names out of bounds, are [tenure.ErrConfig].
//
// It is one statement; four at the first use of a resource, and two if the token is refused.
func (g *Guard) Advance(ctx context.Context, tx *sql.Tx, resource, election string, token uint64) error {
	m := mark{resource: resource, election: election, token: token}
	if err := Check(resource, election, token); err != nil {
		return fmt.Errorf("fence: advancing %q: %w", resource, err)
	}
	if err := g.advance(ctx, tx, m); err != nil {
		return fmt.Errorf("fence: advancing %q: %w", resource, g.explain(err))
	}
	return nil
}

// Mark returns the highest token of an election that the resource has accepted in committed transactions, 0 if there is
// none. It is for people and tests: without the lock that Advance takes it protects nothing. Without the table of marks
// the error is [ErrNoTable].
func (g *Guard) Mark(ctx context.Context, db *sql.DB, resource, election string) (uint64, error) {
	var token int64
	err := db.QueryRowContext(ctx, g.statements.read, resource, election).Scan(&token)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("fence: reading the mark of %q: %w", resource, g.explain(err))
	}
	return uint64(token), nil
}

// explain says of an error of the database which table is missing, and how it is made.
func (g *Guard) explain(err error) error {
	if g.dialect.Classify(err) != sqlstore.NoTable {
		return err
	}
	return fmt.Errorf("%w (%w): it is %s; call Migrate, or have somebody who may create tables run MigrationSQL",
		ErrNoTable, err, g.table)
}

// mark is one that is to be reached.
type mark struct {
	resource, election string
	token              uint64
}

// Check refuses, with an error that wraps [tenure.ErrConfig], what [Guard.Advance] would: it is for other guards of the
// same marks.
func Check(resource, election string, token uint64) error {
	if err := tenure.CheckElection(election); err != nil {
		return err
	}
	bad := resource == "" || len(resource) > 255 || !utf8.ValidString(resource) ||
		strings.ContainsFunc(resource, unicode.IsControl)
	if bad {
		return fmt.Errorf("%w: the resource needs a name of 1 to 255 bytes of UTF-8 without control characters",
			tenure.ErrConfig)
	}
	return checkToken(token)
}

// checkToken refuses 0 above all: it is what a candidate says that does not lead.
func checkToken(token uint64) error {
	if token == 0 || token > tenure.MaxToken {
		return fmt.Errorf("%w: %d is no fencing token of a term", tenure.ErrConfig, token)
	}
	return nil
}
