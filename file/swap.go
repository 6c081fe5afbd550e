package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/floor"
)

// errRevoked says that another process took our temporary file away, because it took us for dead.
var errRevoked = errors.New("the swap lock was replaced")

// CompareAndSwap implements [tenure.Store]. When it returns without an error the record has been synced to the disk.
//
// A record with a leader whose session or token is not that of the record before it begins a term: then this Store
// takes the term's kernel lock first, and holds it until it sees another term in the record, its own writes included,
// or until Close. The outcome is unknown only if ctx ends, or the disk fails, after the record was put into its place;
// the lock is then held until the outcome is seen. Beside what the contract says, an error wraps
// [tenure.ErrPermanent] if permission is missing, the disk is read-only, or the present file is damaged or foreign.
func (s *Store) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	if err := s.enter(ctx, election); err != nil {
		return tenure.Snapshot{}, fmt.Errorf("file: swapping %q: %w", election, refused(err))
	}
	// The work may outlive the call, so it needs a record of its own.
	w := &swap{store: s, election: election, stem: stem(election), old: old, record: record.Clone()}
	result, err := call(ctx, s.writes, func() loaded { return w.run(ctx) })
	switch {
	case err != nil && w.decision.abandon():
		err = tenure.NotApplied(err, 0)
	case err == nil:
		err = result.err
	}
	if err != nil {
		return tenure.Snapshot{}, fmt.Errorf("file: swapping %q: %w", election, err)
	}
	return result.snapshot, nil
}

// swap is one compare-and-swap.
type swap struct {
	store    *Store
	election string
	stem     string
	old      tenure.Version
	record   tenure.Record
	decision decision
	since    uint64 // an instant before the record was compared for the last time
}

// loaded is what reading or writing a record comes to.
type loaded struct {
	snapshot tenure.Snapshot
	err      error
}

func (w *swap) run(ctx context.Context) loaded {
	for {
		snapshot, err := w.attempt(ctx)
		if !errors.Is(err, errRevoked) || ctx.Err() != nil {
			return loaded{snapshot, err}
		}
		w.decision.retract()
	}
}

// attempt makes everything ready and then swaps. Reading without the lock is enough to find a conflict, since a
// version that is not current never becomes so again.
func (w *swap) attempt(ctx context.Context) (tenure.Snapshot, error) {
	current, err := w.current()
	if err != nil {
		return tenure.Snapshot{}, refused(err)
	}
	next, lock, err := w.next(current)
	if err != nil {
		return tenure.Snapshot{}, refused(err)
	}
	stored, landed, err := w.publish(ctx, next)
	w.settle(lock, landed, err == nil)
	switch {
	case err != nil && !landed:
		return tenure.Snapshot{}, refused(err)
	case err != nil:
		return tenure.Snapshot{}, err
	}
	w.retire(current, stored)
	return stored.snapshot(w.store.vouches(stored)), nil
}

// current reads the record, which must be the one that the caller knows.
func (w *swap) current() (envelope, error) {
	current, err := w.store.read(w.election)
	switch {
	case err != nil:
		return envelope{}, err
	case current.Version != w.old, w.old == "" && floor.Refuses(current.Record.Token, w.record):
		return envelope{}, tenure.ErrConflict
	}
	return current, nil
}

// next returns the envelope that takes current's place, with the lock that was taken if it begins a term.
func (w *swap) next(current envelope) (next envelope, lock *termLock, err error) {
	next = envelope{
		Format: envelopeFormat, Election: w.election, Version: nextVersion(current.Version), Record: &w.record,
	}
	switch {
	case w.record.Vacant():
	case current.continues(w.record):
		next.Lock = current.Lock
	default:
		if lock, err = w.store.lockTerm(w.election, w.record); err != nil {
			return envelope{}, nil, err
		}
		next.Lock = &lock.name
	}
	return next, lock, nil
}

// publish reports whether the record is in its place, or may be, and what it is like.
func (w *swap) publish(ctx context.Context, next envelope) (stored envelope, landed bool, err error) {
	text, err := next.encode()
	if err == nil {
		// What could not be read again must not be written.
		stored, err = decodeEnvelope(text, w.stem)
	}
	if err != nil {
		return stored, false, tenure.Permanent(err)
	}
	elections := w.store.layout.elections()
	temp, err := w.store.disk.writeTemp(filepath.Join(elections, w.stem), text)
	if err != nil {
		return stored, false, err
	}
	if landed, err = w.replace(ctx, temp); !landed {
		w.store.disk.discard(temp)
		return stored, false, err
	}
	_ = temp.Close()
	if err == nil {
		err = w.store.disk.syncDir(elections)
	}
	return stored, true, err
}

// replace compares and renames under the swap lock. The directory is synced later, without it: others may then see a
// record that a power cut would take back, but the power cut takes them too, and their own writes sync it with theirs.
func (w *swap) replace(ctx context.Context, temp tempFile) (landed bool, err error) {
	lock, err := w.store.lockElection(ctx, w.stem, temp.path)
	if err != nil {
		return false, err
	}
	defer release(lock)
	w.store.disk.did(step{op: "lock", path: w.stem})
	w.since = w.store.terms.now()
	if _, err := w.current(); err != nil {
		return false, err
	}
	w.store.disk.did(step{op: "compare", path: w.stem})
	if !w.decision.enact() {
		return false, context.Cause(ctx)
	}
	err = w.store.disk.rename(temp.path, w.store.layout.record(w.stem))
	if errors.Is(err, fs.ErrNotExist) {
		return false, errRevoked
	}
	return err == nil || uncertain(err), err
}

// settle keeps the new term's lock if the record names it, or may.
func (w *swap) settle(lock *termLock, landed, synced bool) {
	switch {
	case lock == nil:
	case landed:
		w.store.terms.wrote(lock, synced)
	default:
		w.store.terms.forget(lock)
		w.store.discard(lock)
	}
}

// retire lets go of what belonged to the term that next has ended. Who replaces a record removes the lock file that it
// named; nobody else ever removes one that a record names.
func (w *swap) retire(current, next envelope) {
	if old := current.lockFile(); old != "" && old != next.lockFile() {
		_ = w.store.disk.remove(w.store.layout.term(old))
	}
	over, _ := w.store.terms.settle(w.election, w.since, next.lockFile())
	for _, lock := range over {
		w.store.discard(lock)
	}
}
