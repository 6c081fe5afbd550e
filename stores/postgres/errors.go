package postgres

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/certainty"
)

var (
	errClosed  = tenure.Permanent(errors.New("the store is closed"))
	errStandby = errors.New("the server is a standby (in recovery), where nothing can be written: connect to the " +
		"primary, for instance with several hosts and target_session_attrs=read-write")
	errReadOnly = errors.New("the server takes no writes (a standby, or default_transaction_read_only is on): connect " +
		"to the primary, for instance with several hosts and target_session_attrs=read-write")
	errNoState = errors.New("the table of the schema's version is empty: it was not made by Migrate")
)

// SQLSTATEs that the store acts upon.
const (
	readOnlyTransaction    = "25006"
	invalidStatementName   = "26000"
	duplicateStatementName = "42P05"
	serializationFailure   = "40001"
	statementUnknown       = "40003"
	insufficientPrivilege  = "42501"
	undefinedTable         = "42P01"
	undefinedSchema        = "3F000"
)

func isNoRows(err error) bool { return errors.Is(err, pgx.ErrNoRows) }

// hasState reports whether err is the server's, with one of the SQLSTATEs.
func hasState(err error, states ...string) bool {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		return false
	}
	for _, state := range states {
		if refused.Code == state {
			return true
		}
	}
	return false
}

// outcome says of the error of one statement, run outside of any other transaction, what is known of its effect.
//
// An error of the server's that did not end the session has rolled the statement back. One that did end it may have
// come when the commit was done and only waited for a standby, and so may have the loss of the connection: unknown.
func outcome(err error) error {
	var refused *pgconn.PgError
	switch {
	case err == nil, certainty.NotWritten(err):
		return err
	case errors.Is(err, errStandby), pgconn.SafeToRetry(err):
		return tenure.NotApplied(err, 0)
	case !errors.As(err, &refused) || !rolledBack(refused):
		return err
	case refused.Code == readOnlyTransaction:
		return tenure.NotApplied(fmt.Errorf("%w: %w", errReadOnly, err), 0)
	case refused.Code == undefinedTable, refused.Code == undefinedSchema:
		return tenure.Permanent(fmt.Errorf("the tables are missing: make them with Migrate or tenure migrate: %w", err))
	case refused.Code == insufficientPrivilege:
		return tenure.Permanent(fmt.Errorf("the grants in the store's README are missing: %w", err))
	case isPermanent(refused.Code):
		return tenure.Permanent(err)
	}
	return tenure.NotApplied(err, 0)
}

// rolledBack reports whether an error has certainly undone its statement. Class 08 is what poolers say of connections
// that they lost.
func rolledBack(e *pgconn.PgError) bool {
	severity := e.SeverityUnlocalized
	if severity == "" {
		severity = e.Severity
	}
	return severity == "ERROR" && len(e.Code) == 5 && e.Code[:2] != "08" && e.Code[:2] != "57" &&
		e.Code != statementUnknown || e.Code == "57014"
}

// isPermanent reports whether an SQLSTATE says that the same statement will fail again: data that does not fit, broken
// constraints, missing objects and the like.
// Class 0A is not one of them: a plan that was made before a migration is refused by it, once.
func isPermanent(code string) bool {
	switch code[:2] {
	case "22", "23", "2F", "3D", "3F", "44":
		return true
	case "42":
		return code != duplicateStatementName
	}
	return false
}

// acquired says of the error of getting a connection that nothing was sent.
func acquired(err error) error {
	if err == nil || errors.Is(err, tenure.ErrPermanent) {
		return err
	}
	return tenure.NotApplied(fmt.Errorf("no connection: %w", err), 0)
}
