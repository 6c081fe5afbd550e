package file

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tenure-go/tenure"
)

// storeFormat is the version of the directory's layout.
const storeFormat = 1

// storeState is the content of the store file: what belongs to no single election.
type storeState struct {
	Format int `json:"tenure_file_store"`
	// Floor is the highest token of any election that was pruned. New records start above it.
	Floor uint64 `json:"floor"`
}

// state reads the store file. Without it there is no store: it is made before anything else and never removed.
func (s *Store) state() (storeState, error) {
	path := s.layout.storeFile()
	text, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !exists(s.layout.elections()) {
		return storeState{}, fmt.Errorf("no store in %s: %s or %s is missing: was the directory removed or unmounted?",
			string(s.layout), storeFile, electionDir)
	}
	if err != nil {
		return storeState{}, err
	}
	return decodeState(path, text)
}

func decodeState(path string, text []byte) (storeState, error) {
	var state storeState
	err := json.Unmarshal(text, &state)
	switch {
	case err != nil:
	case state.Format == 0:
		err = errors.New(`it has no field "tenure_file_store"`)
	case state.Format > storeFormat:
		err = fmt.Errorf("it has format %d, this version reads up to %d: upgrade tenure", state.Format, storeFormat)
	case state.Floor > tenure.MaxToken:
		err = fmt.Errorf("its floor of %d is above the largest token", state.Floor)
	}
	if err != nil {
		return storeState{}, foreign(path, err)
	}
	return state, nil
}

// writeState is called with the store's lock held.
func (s *Store) writeState(state storeState) error {
	text, err := json.Marshal(state)
	if err != nil {
		return err
	}
	path := s.layout.storeFile()
	return s.disk.replace(path, strings.TrimSuffix(path, recordSuffix), append(text, '\n'))
}

// raiseFloor makes sure, power cuts included, that new records start above token.
func (s *Store) raiseFloor(token uint64) error {
	state, err := s.state()
	if err != nil || state.Floor >= token {
		return err
	}
	state.Floor = token
	return s.writeState(state)
}

// create makes the store's files, as far as they are missing. The store file comes first and is synced before the
// rest, so that a directory of elections without it is known to have lost its floor.
func (s *Store) create() error {
	if !exists(s.layout.storeFile()) {
		if err := s.createState(); err != nil {
			return err
		}
	}
	for _, dir := range []string{s.layout.elections(), s.layout.locks(), s.layout.terms()} {
		if err := s.disk.mkdir(dir); err != nil {
			return err
		}
	}
	// Somebody else may have made them and not lived to sync them.
	for _, dir := range []string{string(s.layout), filepath.Dir(string(s.layout))} {
		if err := s.disk.syncDir(dir); err != nil && !errors.Is(failed(err), tenure.ErrPermanent) {
			return err
		}
	}
	return nil
}

func (s *Store) createState() error {
	if err := s.makeDirs(string(s.layout)); err != nil {
		return err
	}
	// Two processes that both find no store file must not both write one: the later would take back a floor.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	lock, err := s.lockStore(ctx)
	if err != nil {
		return err
	}
	defer release(lock)
	switch {
	case exists(s.layout.storeFile()):
		return nil
	case exists(s.layout.elections()):
		return foreign(string(s.layout), fmt.Errorf("%s is missing, and with it the floor of the tokens", storeFile))
	}
	return s.writeState(storeState{Format: storeFormat})
}

// makeDirs makes dir with all its parents, each so that it outlives a power cut.
func (s *Store) makeDirs(dir string) error {
	if exists(dir) {
		return nil
	}
	parent := filepath.Dir(dir)
	if err := s.makeDirs(parent); err != nil {
		return err
	}
	if err := s.disk.mkdir(dir); err != nil {
		return err
	}
	return s.disk.syncDir(parent)
}

// lockStore waits for the store's lock, which is held to change the store file and to delete records.
func (s *Store) lockStore(ctx context.Context) (*os.File, error) {
	var pause backoff
	for {
		f, err := s.tryLockStore(true)
		if f != nil || err != nil {
			return f, err
		}
		if err := pause.wait(ctx); err != nil {
			return nil, fmt.Errorf("another process holds %s: %w", s.layout.storeLock(), err)
		}
	}
}

// tryLockStore returns no file if somebody else holds the lock.
func (s *Store) tryLockStore(alone bool) (*os.File, error) {
	return s.tryLockFile(s.layout.storeLock(), alone)
}
