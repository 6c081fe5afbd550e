package supervisor

import (
	"errors"
	"fmt"
	"os"

	"github.com/tenure-go/tenure"
)

// termLocker is a store that proves the end of a term by a kernel lock. A holder of the returned descriptor keeps the
// seat from counting as abandoned.
type termLocker interface {
	TermLock(election string, token uint64) (*os.File, error)
}

// termLock is the lock of a term, or nothing if the store has none.
type termLock struct{ file *os.File }

// lock returns the lock of a term. Without it the command must not run where the store has locks: if this process was
// killed, the others would take the seat while the guard still ends the command.
func (s *supervisor) lock(term tenure.Term) (termLock, error) {
	store, ok := s.Store.(termLocker)
	if !ok {
		return termLock{}, nil
	}
	file, err := store.TermLock(term.Election, term.Token)
	switch {
	case errors.Is(err, tenure.ErrNotLeader):
		return termLock{}, errTermOver
	case err != nil:
		return termLock{}, fmt.Errorf("taking the term's lock for the command: %w", err)
	}
	return termLock{file}, nil
}

func (l termLock) close() {
	if l.file != nil {
		_ = l.file.Close()
	}
}
