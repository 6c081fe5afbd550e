package file

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/tenure-go/tenure"
)

// termLock is a kernel lock that says that somebody who may act under a term is alive. It is taken before the record
// that names it is written, and let go by closing, never by unlocking: a process that inherited it keeps it.
type termLock struct {
	tempFile
	name     lockName
	election string
	token    uint64
	ttl      time.Duration

	// landed is when the record that names the lock was written, or was first seen, in the order of terms.now. Zero
	// while it may not have been.
	landed uint64
	// synced says that a power cut cannot take the record back any more.
	synced bool
}

// terms keeps the term locks of a store. All fields belong to its mutex.
type terms struct {
	mu     sync.Mutex
	clock  uint64
	held   map[string][]*termLock // by election
	closed bool
}

// standing keeps every lock that is held from the garbage collector, which would close its file: a program may drop its
// Store while work under a term goes on.
var standing sync.Map

// lockTerm makes and takes the lock of the term that record begins.
func (s *Store) lockTerm(election string, record tenure.Record) (*termLock, error) {
	prefix := s.layout.term(termFile(stem(election), record))
	temp, err := s.disk.createLocked(prefix, lockSuffix)
	if err != nil {
		return nil, err
	}
	info, err := temp.Stat()
	if err != nil {
		s.disk.discard(temp)
		return nil, err
	}
	lock := &termLock{
		tempFile: temp, election: election, token: record.Token, ttl: record.TTL,
		name: lockName{File: filepath.Base(temp.path), Inode: inode(info), Boot: s.boot},
	}
	standing.Store(lock, nil)
	s.terms.add(lock)
	return lock, nil
}

// discard lets go of a lock that no record names any more.
func (s *Store) discard(lock *termLock) {
	s.disk.discard(lock.tempFile)
	standing.Delete(lock)
}

// TermLock returns another descriptor of the kernel lock that this Store holds for the term of an election with the
// given token: for a child process to inherit ([os/exec.Cmd.ExtraFiles]). Then the term counts as abandoned only when
// the child, and every process that it passed the descriptor on to, is gone too. The caller closes the file; it must
// not unlock it, or the lock is gone for everybody. The error wraps [tenure.ErrNotLeader] if no such term was begun
// through this Store, or it is over.
func (s *Store) TermLock(election string, token uint64) (*os.File, error) {
	s.terms.mu.Lock()
	defer s.terms.mu.Unlock()
	for _, lock := range slices.Backward(s.terms.held[election]) {
		if lock.token == token && lock.landed != 0 && !s.terms.closed {
			return duplicate(lock.File)
		}
	}
	return nil, fmt.Errorf("file: lock of term %d of %q: %w", token, election, tenure.ErrNotLeader)
}

// now returns a number for this instant. It is taken before a record is read, to tell whether what was read can be
// older than a lock.
func (t *terms) now() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clock++
	return t.clock
}

func (t *terms) add(lock *termLock) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held == nil {
		t.held = make(map[string][]*termLock)
	}
	t.held[lock.election] = append(t.held[lock.election], lock)
}

// holds reports whether this store holds the lock of that name, which spares a probe.
func (t *terms) holds(election, file string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.ContainsFunc(t.held[election], func(l *termLock) bool { return l.name.File == file })
}

// write notes that the record that names lock was written, or may have been.
func (t *terms) wrote(lock *termLock, synced bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clock++
	lock.landed, lock.synced = t.clock, synced
	if t.closed {
		t.outlive(lock)
	}
}

// settle learns from a record that was read after the instant since and names the lock current. It returns the locks
// whose terms are over, which are no longer held, and the current one if it is not known to be synced.
//
// A record read earlier proves nothing: our own may have replaced it meanwhile.
func (t *terms) settle(election string, since uint64, current string) (over []*termLock, unsynced *termLock) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var held []*termLock
	for _, lock := range t.held[election] {
		switch {
		case lock.name.File == current:
			if lock.landed == 0 {
				t.clock++
				lock.landed = t.clock
			}
			if !lock.synced {
				unsynced = lock
			}
		case lock.landed != 0 && lock.landed < since:
			over = append(over, lock)
			continue
		}
		held = append(held, lock)
	}
	t.replace(election, held)
	return over, unsynced
}

func (t *terms) synced(lock *termLock) {
	t.mu.Lock()
	defer t.mu.Unlock()
	lock.synced = true
}

// forget stops holding a lock that no record names.
func (t *terms) forget(lock *termLock) {
	t.mu.Lock()
	defer t.mu.Unlock()
	held := slices.DeleteFunc(t.held[lock.election], func(l *termLock) bool { return l == lock })
	t.replace(lock.election, held)
}

func (t *terms) replace(election string, held []*termLock) {
	if len(held) == 0 {
		delete(t.held, election)
		return
	}
	t.held[election] = held
}

// close lets go of the terms that still stand, but not before their leases have run out: work may go on that nobody
// waited for, and the lock is what says so. An attempt that is still under way lets go by itself.
func (t *terms) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for _, held := range t.held {
		for _, lock := range held {
			if lock.landed != 0 {
				t.outlive(lock)
			}
		}
	}
}

func (t *terms) outlive(lock *termLock) {
	time.AfterFunc(lock.ttl, func() {
		_ = lock.Close()
		standing.Delete(lock)
	})
}

// vouches reports whether the kernel says that nobody holds the lock any more who may act under the record's term. It
// says no wherever it cannot tell: the lock is of another boot, or of another host that has this store's disk now, its
// file is gone, or was put there by somebody who never locked it.
func (s *Store) vouches(e envelope) bool {
	if e.Record.Vacant() || e.Lock == nil || e.Lock.Boot == "" || e.Lock.Boot != s.boot {
		return false
	}
	if s.terms.holds(e.Election, e.Lock.File) {
		return false
	}
	free := isFree(s.layout.term(e.Lock.File), e.Lock.Inode)
	s.disk.did(step{op: "probe", path: e.Lock.File})
	return free
}

// isFree probes with a shared lock, so that probes are in nobody's way: neither in that of other probes, nor in that
// of the holder, who had the lock before anybody could know of it.
func isFree(path, wantInode string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || inode(info) != wantInode {
		return false
	}
	free, err := tryLock(f, false)
	return free && err == nil
}
