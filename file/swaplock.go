package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// stallTime is how long one and the same swap lock may stay held before another process replaces it. It is far longer
// than a swap holds it, and choosing it too short costs only repeated work.
const stallTime = 50 * time.Millisecond

// An election's swap lock is held while its record is compared and replaced, for some tens of microseconds: the new
// record is written and synced before, its directory synced after. Waiting for it takes no thread.
//
// A process that is frozen with the lock in its hands must not freeze the election too, so a lock can be replaced by
// force. That is safe because a holder changes the record by a single step, the rename of a temporary file that it made
// before it took the lock, and because who replaces the lock removes all such files before it reads the record: either
// the rename came first, and is seen, or it finds nothing to rename. The new lock file is put into place locked, and
// with a mark in it that stays until the files are gone, so that whoever holds the lock by its name knows that no
// earlier holder can change the record any more, whoever died in between.

// lockElection waits for the swap lock of a stem. own is the caller's temporary file, which must exist.
func (s *Store) lockElection(ctx context.Context, stem, own string) (*os.File, error) {
	var pause backoff
	for {
		f, err := s.tryLockElection(stem, own)
		if f == nil && err == nil && s.stalls.stalled(s.layout, stem) {
			f, err = s.replaceLock(stem, own)
		}
		if f != nil || err != nil {
			s.stalls.forget(stem)
			return f, err
		}
		if err := pause.wait(ctx); err != nil {
			return nil, fmt.Errorf("waiting for %s: %w", s.layout.lock(stem), err)
		}
	}
}

func (s *Store) tryLockElection(stem, own string) (*os.File, error) {
	f, err := s.tryLockFile(s.layout.lock(stem), true)
	if f == nil || err != nil {
		return nil, err
	}
	if err := s.disarm(f, stem, own); err != nil {
		release(f)
		return nil, err
	}
	return f, nil
}

// tryLockFile returns the locked file at path, which it makes if need be, or no file if somebody else holds the lock
// or has just put another into its place.
func (s *Store) tryLockFile(path string, alone bool) (*os.File, error) {
	f, err := s.openLock(path)
	if err != nil {
		return nil, err
	}
	s.disk.did(step{op: "open", path: path})
	locked, err := tryLock(f, alone)
	if locked && isAt(f, path) {
		return f, nil
	}
	release(f)
	return nil, err
}

func (s *Store) openLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|openFlags, 0)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|openFlags, s.disk.mode)
	if errors.Is(err, fs.ErrExist) {
		return os.OpenFile(path, os.O_RDWR|openFlags, 0)
	}
	if err != nil {
		return nil, err
	}
	s.disk.did(step{op: "create", path: path})
	return f, s.disk.permit(f)
}

// replaceLock takes the swap lock from a process that holds it for too long. It leaves it while a process deletes
// records, since a deletion cannot be taken back like a rename.
func (s *Store) replaceLock(stem, own string) (*os.File, error) {
	deletion, err := s.tryLockStore(false)
	if deletion == nil || err != nil {
		return nil, err
	}
	defer release(deletion)
	fresh, err := s.disk.createLocked(filepath.Join(s.layout.locks(), stem), lockSuffix)
	if err != nil {
		return nil, err
	}
	if err = s.disk.write(fresh, []byte("replaced by force\n")); err == nil {
		err = s.disk.rename(fresh.path, s.layout.lock(stem))
	}
	if err == nil {
		err = s.disarm(fresh.File, stem, own)
	}
	if err != nil {
		s.disk.discard(fresh)
		return nil, err
	}
	return fresh.File, nil
}

// disarm takes the temporary files of everybody else away if the lock in f was put into place by force.
func (s *Store) disarm(f *os.File, stem, own string) error {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	temps, err := s.temps(stem)
	if err != nil {
		return err
	}
	for _, temp := range temps {
		if temp == own {
			continue
		}
		if err := s.disk.remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return f.Truncate(0)
}

// temps returns the temporary files of a stem, whosever they are.
func (s *Store) temps(stem string) ([]string, error) {
	entries, err := os.ReadDir(s.layout.elections())
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, entry := range entries {
		if stemOf(entry.Name()) == stem && strings.HasSuffix(entry.Name(), tempSuffix) {
			paths = append(paths, filepath.Join(s.layout.elections(), entry.Name()))
		}
	}
	return paths, nil
}

func release(f *os.File) {
	unlock(f)
	_ = f.Close()
}

// stalls remembers the swap locks that were found held, beyond a single call: a call may be given less time than a
// stall takes to show.
type stalls struct {
	mu     sync.Mutex
	byStem map[string]stall
}

type stall struct {
	state string
	since time.Time
}

// stalled reports whether a swap lock that was found held has been so for longer than any swap takes, with no change
// of the record in between.
func (l *stalls) stalled(files layout, stem string) bool {
	state := inodeAt(files.lock(stem)) + " " + inodeAt(files.record(stem))
	l.mu.Lock()
	defer l.mu.Unlock()
	if known, ok := l.byStem[stem]; ok && known.state == state {
		return time.Since(known.since) >= stallTime
	}
	if l.byStem == nil {
		l.byStem = make(map[string]stall)
	}
	l.byStem[stem] = stall{state, time.Now()}
	return false
}

func (l *stalls) forget(stem string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.byStem, stem)
}

func inodeAt(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return ""
	}
	return inode(info)
}

// backoff spaces the attempts to get a lock.
type backoff struct{ next time.Duration }

func (b *backoff) wait(ctx context.Context) error {
	const first, longest = 50 * time.Microsecond, 5 * time.Millisecond
	b.next = min(max(2*b.next, first), longest)
	// A random half keeps processes that began to wait together from trying together.
	timer := time.NewTimer(b.next/2 + rand.N(b.next/2))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
