package file

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/tenure-go/tenure"
)

// sweep removes what killed processes left: temporary files, and locks that no record names. All of them are locked as
// long as their maker lives. What cannot be removed is no harm and is left.
func (s *Store) sweep() {
	s.sweepDir(string(s.layout), func(name string) bool { return strings.HasSuffix(name, tempSuffix) })
	s.sweepDir(s.layout.elections(), func(name string) bool { return strings.HasSuffix(name, tempSuffix) })
	s.sweepDir(s.layout.locks(), func(name string) bool { return strings.Count(name, ".") > 1 })
	s.sweepDir(s.layout.terms(), func(name string) bool { return strings.HasSuffix(name, lockSuffix) })
}

func (s *Store) sweepDir(dir string, swept func(name string) bool) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if entry.Type().IsRegular() && swept(entry.Name()) {
			s.sweepFile(dir, entry.Name())
		}
	}
}

// sweepFile removes a file if its maker is dead and no record names it. The shared lock is kept meanwhile, so that a
// maker who has not locked its file yet finds out and makes another. The record is read after the lock was found free:
// from then on nobody can come to name it.
func (s *Store) sweepFile(dir, name string) {
	path := filepath.Join(dir, name)
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if free, err := tryLock(f, false); !free || err != nil {
		return
	}
	if dir == s.layout.terms() && s.named(name) {
		return
	}
	_ = s.disk.remove(path)
}

// named reports whether a record names the term lock, or may.
func (s *Store) named(file string) bool {
	path := s.layout.record(stemOf(file))
	text, err := readFile(path)
	s.disk.did(step{op: "named", path: file})
	if err != nil {
		return exists(path)
	}
	e, err := decodeEnvelope(text, stemOf(file))
	return err != nil || e.lockFile() == file
}

// checkLocks tries whether the file system's locks work at all. A store that can only be read cannot tell.
func (s *Store) checkLocks() error {
	temp, err := s.disk.createLocked(filepath.Join(s.layout.locks(), cutMark), lockSuffix)
	if errors.Is(failed(err), tenure.ErrPermanent) {
		return nil
	}
	if err != nil {
		return err
	}
	defer s.disk.discard(temp)
	other, err := os.OpenFile(temp.path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return err
	}
	defer other.Close()
	if free, err := tryLock(other, false); free || err != nil {
		return tenure.Permanent(errors.Join(errors.New("locks (flock) do not work on this file system"), err))
	}
	return nil
}
