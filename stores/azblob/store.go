package azblob

import (
	"context"
	"fmt"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/certainty"
	"github.com/tenure-go/tenure/internal/objectstore"
)

// Store is a [tenure.Store] in a container of Azure Blob Storage. All methods are safe for concurrent use.
type Store struct {
	container *blobs
	objects   *objectstore.Store
	leases    *leases      // nil without WithBlobLease
	owned     *http.Client // nil if the client is the user's
}

// New returns a store over the user's client, which stays theirs. Its credentials and its transport are used as they
// are; its retries are not, since they would blur what became of a write. Nothing is sent yet: the first write makes
// the container if [WithCreate] says so, and tries whether the service honours conditions.
//
// The error wraps [tenure.ErrConfig] if there is no client or an option is out of bounds.
func New(client *container.Client, options ...Option) (*Store, error) {
	c, err := newConfig(options)
	if err == nil && client == nil {
		err = fmt.Errorf("%w: the client is nil", tenure.ErrConfig)
	}
	if err != nil {
		return nil, fmt.Errorf("azblob: %w", err)
	}
	b := &blobs{client: client, create: c.create}
	s := &Store{container: b, objects: objectstore.New("azblob", b, c.prefix)}
	if c.leaseBlob != "" {
		s.leases = newLeases(b, c.leaseBlob)
	}
	return s, nil
}

// Close ends the store: every later call fails with [tenure.ErrPermanent]. It sends nothing. It closes the idle
// connections of a client that [Open] made, and leaves a user's client as it is. Close may be called more than once.
// The error is always nil.
func (s *Store) Close() error {
	if s.objects.Close() && s.owned != nil {
		s.owned.CloseIdleConnections()
	}
	return nil
}

// Load implements [tenure.Store]. It takes one request, or two if there is no record.
func (s *Store) Load(ctx context.Context, election string) (tenure.Snapshot, error) {
	return s.objects.Load(ctx, election)
}

// CompareAndSwap implements [tenure.Store]. It takes one request, or three if it creates a record, and with
// [WithBlobLease] one or two more. The first call of a Store tries whether the service honours conditions, unless
// [Open] did: if not, the error wraps [tenure.ErrPermanent].
func (s *Store) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	if s.leases == nil {
		return s.objects.CompareAndSwap(ctx, election, old, record)
	}
	undo, err := s.prepare(ctx, election, old, record)
	if err != nil {
		return tenure.Snapshot{}, fmt.Errorf("azblob: swapping %q: %w", election, err)
	}
	snapshot, err := s.objects.CompareAndSwap(ctx, election, old, record)
	if certainty.NotWritten(err) {
		undo(ctx)
	}
	return snapshot, err
}
