package objectstore

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/certainty"
)

var errClosed = tenure.Permanent(errors.New("the store is closed"))

// Store is a [tenure.Store], [tenure.Lister] and [tenure.Pruner] in an object storage. All methods are safe for
// concurrent use.
type Store struct {
	name   string // of the package that made it, for errors
	client Client
	prefix string
	probe  probe
	closed atomic.Bool
}

// New returns a store of the given name, whose keys begin with prefix.
func New(name string, client Client, prefix string) *Store {
	return &Store{name: name, client: client, prefix: prefix, probe: newProbe()}
}

// Close ends the store: every later call fails with [tenure.ErrPermanent]. It reports whether it was open.
func (s *Store) Close() bool { return s.closed.CompareAndSwap(false, true) }

// Load implements [tenure.Store].
func (s *Store) Load(ctx context.Context, election string) (tenure.Snapshot, error) {
	snapshot, err := s.load(ctx, election)
	if err != nil {
		return tenure.Snapshot{}, s.failed("loading", election, err)
	}
	return snapshot, nil
}

func (s *Store) load(ctx context.Context, election string) (tenure.Snapshot, error) {
	if err := s.enter(ctx, election); err != nil {
		return tenure.Snapshot{}, err
	}
	key := s.prefix + recordKey(election)
	object, err := s.client.Get(ctx, key)
	if errors.Is(err, ErrMissing) {
		floor, _, err := s.floor(ctx)
		return tenure.Snapshot{Record: tenure.Record{Token: floor}}, err
	}
	if err != nil {
		return tenure.Snapshot{}, err
	}
	record, err := decodeRecord(key, election, object.Body)
	return tenure.Snapshot{Version: tenure.Version(object.Tag), Record: record}, err
}

// CompareAndSwap implements [tenure.Store]. The first call of a Store tries whether the storage honours conditions.
func (s *Store) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	err := s.ready(ctx, election)
	if err != nil {
		return tenure.Snapshot{}, s.failed("swapping", election, certainty.Mark(err))
	}
	next := tenure.Snapshot{Record: record.Clone()}
	if old == "" {
		next.Version, err = s.create(ctx, election, next.Record)
	} else {
		next.Version, err = s.put(ctx, election, next.Record, old)
	}
	if err != nil {
		return tenure.Snapshot{}, s.failed("swapping", election, err)
	}
	return next, nil
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

func (s *Store) ready(ctx context.Context, election string) error {
	if err := s.enter(ctx, election); err != nil {
		return err
	}
	return s.Check(ctx)
}

func (s *Store) put(
	ctx context.Context, election string, record tenure.Record, old tenure.Version,
) (tenure.Version, error) {
	body, err := encode(content{Election: election, Record: &record})
	if err != nil {
		return "", err
	}
	tag, err := s.client.Put(ctx, s.prefix+recordKey(election), body, string(old))
	return tenure.Version(tag), err
}

// create makes a new record above the floor. The floor can be raised while the record is on its way, so it is looked
// at again: a record that turns out to be under it is taken back before anybody is told of it.
func (s *Store) create(ctx context.Context, election string, record tenure.Record) (tenure.Version, error) {
	if err := s.checkFloor(ctx, record); err != nil {
		return "", certainty.Mark(err)
	}
	created, err := s.put(ctx, election, record, "")
	if err != nil {
		return "", err
	}
	err = s.checkFloor(ctx, record)
	if !errors.Is(err, tenure.ErrConflict) {
		return created, unknown(err)
	}
	if err := s.client.Delete(ctx, s.prefix+recordKey(election), string(created)); err != nil {
		return "", unknown(err)
	}
	return "", tenure.ErrConflict
}

func (s *Store) failed(doing, election string, err error) error {
	return fmt.Errorf("%s: %s %q: %w", s.name, doing, election, err)
}

// unknown is for a write that may stand, whatever certain thing another request came to.
func unknown(err error) error {
	if err == nil {
		return nil
	}
	return errors.New("a new record was written, and then the floor for its token was not found out: " + err.Error())
}
