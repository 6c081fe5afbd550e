package fence

import (
	"errors"
	"fmt"
)

// ErrStale: a term with a higher token has been accepted before. What comes with the lower one must not be written:
// roll the transaction back, and stop; the term is over. The error is a [StaleError].
var ErrStale = errors.New("fence: a newer term has been here")

// ErrNoTable: the table of marks is missing, or has other columns. [Guard.Migrate] makes it, or whoever runs the SQL of
// [Guard.MigrationSQL].
var ErrNoTable = errors.New("fence: the table of marks is missing or has other columns")

// StaleError is an [ErrStale] with both tokens.
type StaleError struct {
	// Resource says what is guarded.
	Resource string
	// Token is the one that was refused.
	Token uint64
	// Mark is the highest that was accepted.
	Mark uint64
}

// Error says which token was refused and why.
func (e *StaleError) Error() string {
	return fmt.Sprintf("%v: %s has seen token %d, so that %d is refused", ErrStale, e.Resource, e.Mark, e.Token)
}

// Unwrap returns [ErrStale].
func (e *StaleError) Unwrap() error { return ErrStale }
