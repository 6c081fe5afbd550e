package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/certainty"
)

// CompareAndSwap implements [tenure.Store]: one update, which the API server makes only if the Lease still has the
// resource version that the writer knows. If this Store has not seen that version itself it reads the Lease first, so
// that what others have put into it stays. To create a record takes two requests more, for the floor before and after.
func (s *Store) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	snapshot, err := s.swap(ctx, election, old, record)
	if err != nil {
		return tenure.Snapshot{}, fmt.Errorf("kubernetes: swapping %q: %w", election, err)
	}
	return snapshot, nil
}

func (s *Store) swap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	if err := s.enter(ctx, election); err != nil {
		return tenure.Snapshot{}, certainty.Mark(err)
	}
	record, err := storable(record)
	if err != nil {
		return tenure.Snapshot{}, tenure.Permanent(err)
	}
	var lease *coordinationv1.Lease
	if old == "" {
		lease, err = s.create(ctx, election, record)
	} else {
		lease, err = s.replace(ctx, election, old, record)
	}
	if err != nil {
		return tenure.Snapshot{}, err
	}
	s.note(lease.Name, lease)
	return tenure.Snapshot{Version: versionOf(lease), Record: record}, nil
}

// storable returns a copy of the record as it will be read: what could not be read again must not be written.
func storable(record tenure.Record) (stored tenure.Record, err error) {
	text, err := json.Marshal(record)
	if err == nil {
		err = json.Unmarshal(text, &stored)
	}
	return stored, err
}

// replace writes a record in place of that of an old version.
func (s *Store) replace(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (*coordinationv1.Lease, error) {
	lease, err := s.at(ctx, leaseName(election), old)
	if err != nil {
		return nil, certainty.Mark(err)
	}
	next := lease.DeepCopy()
	if !keeps(lease, record) {
		next.Spec = specOf(record)
	}
	if err := annotate(next, content{Election: election, Record: &record, Spec: sealOf(next.Spec)}); err != nil {
		return nil, tenure.Permanent(err)
	}
	return s.update(ctx, next)
}

// at returns a Lease in an old version, by a request if it was not seen last.
func (s *Store) at(ctx context.Context, name string, old tenure.Version) (*coordinationv1.Lease, error) {
	if lease := s.noted(name, old); lease != nil {
		return lease, nil
	}
	lease, err := s.get(ctx, name)
	if err == nil && (lease == nil || versionOf(lease) != old) {
		err = tenure.ErrConflict
	}
	return lease, err
}

// keeps reports whether a record leaves the seat to the elector of client-go that holds it, as a request does: its spec
// is its own, and the next thing that it writes tells how it goes on.
func keeps(lease *coordinationv1.Lease, record tenure.Record) bool {
	return foreign(record) && record.Leader == value(lease.Spec.HolderIdentity)
}

// update writes a Lease under the condition that it has not changed, and is still the same object: without that a PUT
// makes a Lease that was deleted anew.
func (s *Store) update(ctx context.Context, lease *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	ctx, asked := hear(ctx)
	written, err := s.leases.Update(ctx, lease, metav1.UpdateOptions{})
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return nil, fmt.Errorf("%w: %w", tenure.ErrConflict, err)
	case err != nil:
		return nil, s.writeFailed(err, asked)
	}
	s.allowed.Store(true)
	return written, nil
}

// create makes a new record above the floor. The floor can be raised while the record is on its way, so it is looked
// at again: a record that turns out to be under it is taken back before anybody is told of it.
func (s *Store) create(ctx context.Context, election string, record tenure.Record) (*coordinationv1.Lease, error) {
	if err := s.checkFloor(ctx, record); err != nil {
		return nil, certainty.Mark(err)
	}
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: leaseName(election), Labels: s.config.labels}, Spec: specOf(record),
	}
	if err := annotate(lease, content{Election: election, Record: &record, Spec: sealOf(lease.Spec)}); err != nil {
		return nil, tenure.Permanent(err)
	}
	created, err := s.add(ctx, lease)
	if err != nil {
		return nil, err
	}
	err = s.checkFloor(ctx, record)
	switch {
	case err == nil:
		return created, nil
	case !errors.Is(err, tenure.ErrConflict):
		return nil, unknown(err)
	}
	if err := s.remove(ctx, created); err != nil {
		return nil, unknown(err)
	}
	return nil, tenure.ErrConflict
}

// add makes a Lease.
func (s *Store) add(ctx context.Context, lease *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	ctx, asked := hear(ctx)
	created, err := s.leases.Create(ctx, lease, metav1.CreateOptions{})
	switch {
	case apierrors.IsAlreadyExists(err):
		return nil, fmt.Errorf("%w: %w", tenure.ErrConflict, err)
	case apierrors.IsNotFound(err):
		return nil, tenure.Permanent(fmt.Errorf("%w: make the namespace first", err))
	case err != nil:
		return nil, s.writeFailed(err, asked)
	}
	s.allowed.Store(true)
	return created, nil
}

// remove deletes a Lease under the condition that it has not changed.
func (s *Store) remove(ctx context.Context, lease *coordinationv1.Lease) error {
	ctx, asked := hear(ctx)
	err := s.leases.Delete(ctx, lease.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &lease.UID, ResourceVersion: &lease.ResourceVersion},
	})
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return fmt.Errorf("%w: %w", tenure.ErrConflict, err)
	case err != nil:
		return s.writeFailed(err, asked)
	}
	return nil
}
