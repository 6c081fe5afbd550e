package s3

import (
	"context"
	"fmt"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/objectstore"
)

// Store is a [tenure.Store] in a bucket. All methods are safe for concurrent use.
type Store struct {
	bucket  bucket
	objects *objectstore.Store
	owned   *http.Client // nil if the client is the user's
}

// New returns a store over the user's client, which stays theirs. Its credentials, region and endpoint are used as they
// are; its retries are not, since they would blur what became of a write. Nothing is sent yet: the first write tries
// whether the server honours conditions.
//
// The error wraps [tenure.ErrConfig] if there is no client or no bucket, or an option is out of bounds.
func New(client *s3.Client, name string, options ...Option) (*Store, error) {
	c, err := newConfig(options)
	switch {
	case err != nil:
	case client == nil:
		err = fmt.Errorf("%w: the client is nil", tenure.ErrConfig)
	case name == "":
		err = fmt.Errorf("%w: no bucket is named", tenure.ErrConfig)
	}
	if err != nil {
		return nil, fmt.Errorf("s3: %w", err)
	}
	b := bucket{client: client, name: name}
	return &Store{bucket: b, objects: objectstore.New("s3", b, c.prefix)}, nil
}

// Close ends the store: every later call fails with [tenure.ErrPermanent]. It closes the idle connections of a client
// that [Open] made, and leaves a user's client as it is. Close may be called more than once. The error is always nil.
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

// CompareAndSwap implements [tenure.Store]. It takes one request, or three if it creates a record. The first call of a
// Store tries whether the server honours conditions, unless [Open] did: if not, the error wraps [tenure.ErrPermanent].
func (s *Store) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	return s.objects.CompareAndSwap(ctx, election, old, record)
}
