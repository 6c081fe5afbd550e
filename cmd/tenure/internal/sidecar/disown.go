package sidecar

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/tenure-go/tenure"
)

// termLocker is a store that proves the end of a term by a kernel lock of the process that began it.
type termLocker interface {
	TermLock(election string, token uint64) (*os.File, error)
}

// disown keeps the store from vouching for the end of a term with this process: those who act under it are other
// processes, which outlive a sidecar that is killed and are told nothing more. It takes the lock's file away, without
// which nobody can tell whether the lock is free, so that all wait for the lease as they do over other stores. It has
// to be done before anybody is told of the term.
func disown(store tenure.Store, term tenure.Term) error {
	locker, ok := store.(termLocker)
	if !ok {
		return nil
	}
	lock, err := locker.TermLock(term.Election, term.Token)
	if err != nil {
		return fmt.Errorf("finding the lock of the term: %w", err)
	}
	defer lock.Close()
	if err := os.Remove(lock.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("disowning the term: %w", err)
	}
	return nil
}

// lead returns the term of the own candidate if it leads, for somebody to act under it.
func (s *Sidecar) lead(e *election) (tenure.Term, bool) {
	if e.own == nil {
		return tenure.Term{}, false
	}
	term, ok := e.own.Term()
	if !ok {
		return tenure.Term{}, false
	}
	e.disowning.Lock()
	defer e.disowning.Unlock()
	if e.disowned == term.Token {
		return term, true
	}
	if err := disown(s.options.Store, term); err != nil {
		s.log.Warn("the term cannot be told to others", "election", e.Name, "token", term.Token, "error", err)
		return tenure.Term{}, false
	}
	e.disowned = term.Token
	return term, true
}
