package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync/atomic"
	"syscall"

	"github.com/tenure-go/tenure"
)

var (
	_ tenure.Store     = (*Store)(nil)
	_ tenure.Lister    = (*Store)(nil)
	_ tenure.Pruner    = (*Store)(nil)
	_ tenure.Guarantor = (*Store)(nil)
)

var errClosed = tenure.Permanent(errors.New("the store is closed"))

// Store is a [tenure.Store] in a directory. On Linux it is a [tenure.Watcher] too. All methods are safe for concurrent
// use, by any number of Stores on the same directory in any number of processes of the host.
type Store struct {
	config *config
	layout layout
	disk   *disk
	boot   string

	terms   terms
	stalls  stalls
	watches watches

	reads, writes chan struct{}
	closed        atomic.Bool
}

// Open returns the store in dir, which it makes, with its parents, if it does not exist, unless
// [WithExistingDirectory] forbids it. It removes what killed processes left. A store to whose directory the process may
// not write can be read.
//
// The error wraps [tenure.ErrPermanent] if dir is on a network file system, or on one whose locks do not work, is
// damaged, or may not be read; [tenure.ErrNoStore] if there is none and it is not to be made; [tenure.ErrConfig] if an
// option is out of bounds.
func Open(dir string, options ...Option) (*Store, error) {
	c, err := newConfig(options)
	if err != nil {
		return nil, fmt.Errorf("file: opening %s: %w", dir, err)
	}
	s, err := newStore(dir, c)
	if err == nil {
		err = s.prepare()
	}
	if err != nil {
		return nil, fmt.Errorf("file: opening %s: %w", dir, failed(err))
	}
	return s, nil
}

func newStore(dir string, c *config) (*Store, error) {
	if dir == "" {
		return nil, fmt.Errorf("%w: no directory is named", tenure.ErrConfig)
	}
	// A program that changes its working directory keeps its store.
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	return &Store{
		config: c, layout: layout(path), disk: &disk{mode: c.mode, after: c.after}, boot: c.boot(),
		reads: make(chan struct{}, parallel), writes: make(chan struct{}, parallel),
	}, nil
}

func (s *Store) prepare() error {
	if err := supported(); err != nil {
		return tenure.Permanent(err)
	}
	if s.config.existing && !exists(s.layout.storeFile()) {
		return tenure.Permanent(fmt.Errorf("%w: it has no %s", tenure.ErrNoStore, storeFile))
	}
	if err := s.checkFileSystem(); err != nil {
		return err
	}
	if err := s.create(); err != nil {
		return err
	}
	if _, err := s.state(); err != nil {
		return err
	}
	if err := s.checkLocks(); err != nil {
		return err
	}
	s.sweep()
	return nil
}

// Close ends the store: every later call fails with [tenure.ErrPermanent], and each watch is told so by a last
// delivery before Close returns. Close may be called more than once, but not from within a deliver function. The error
// is always nil.
//
// Stop the candidates first. The kernel lock of a term that still stands is kept until its lease has run out, or the
// process ends: Close cannot know whether work goes on under the term, as after [tenure.ErrOverran].
func (s *Store) Close() error {
	if s.closed.CompareAndSwap(false, true) {
		s.terms.close()
		s.watches.close()
	}
	return nil
}

// Load implements [tenure.Store]. The snapshot is abandoned if the record names the kernel lock of a term, taken in
// this boot of this host, that nobody holds any more.
func (s *Store) Load(ctx context.Context, election string) (tenure.Snapshot, error) {
	if err := s.enter(ctx, election); err != nil {
		return tenure.Snapshot{}, fmt.Errorf("file: loading %q: %w", election, err)
	}
	result, err := call(ctx, s.reads, func() loaded {
		snapshot, _, err := s.look(election)
		return loaded{snapshot, err}
	})
	if err == nil {
		err = result.err
	}
	if err != nil {
		return tenure.Snapshot{}, fmt.Errorf("file: loading %q: %w", election, failed(err))
	}
	return result.snapshot, nil
}

// enter refuses a call that can do nothing.
func (s *Store) enter(ctx context.Context, election string) error {
	if s.closed.Load() {
		return errClosed
	}
	if err := tenure.CheckElection(election); err != nil {
		return tenure.Permanent(err)
	}
	return ctx.Err()
}

// look reads an election's state and lets go of the locks of terms that it shows to be over.
func (s *Store) look(election string) (tenure.Snapshot, envelope, error) {
	since := s.terms.now()
	current, err := s.read(election)
	if err != nil {
		return tenure.Snapshot{}, envelope{}, err
	}
	s.disk.did(step{op: "read", path: current.lockFile()})
	over, unsynced := s.terms.settle(election, since, current.lockFile())
	for _, lock := range over {
		s.discard(lock)
	}
	if unsynced != nil {
		// The caller may take this for the success of a bid of which it had no answer, and use the token outside.
		if err := s.disk.syncDir(s.layout.elections()); err != nil {
			return tenure.Snapshot{}, envelope{}, err
		}
		s.terms.synced(unsynced)
	}
	return current.snapshot(s.vouches(current)), current, nil
}

// read returns the envelope in the record file. If there is none, its record holds the floor and nothing else.
func (s *Store) read(election string) (envelope, error) {
	path := s.layout.record(stem(election))
	text, err := readFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		state, err := s.state()
		return envelope{Election: election, Record: &tenure.Record{Token: state.Floor}}, err
	case errors.Is(err, syscall.ELOOP):
		return envelope{}, foreign(path, err)
	case err != nil:
		return envelope{}, err
	}
	e, err := decodeEnvelope(text, stem(election))
	if err != nil {
		return envelope{}, foreign(path, err)
	}
	return e, nil
}
