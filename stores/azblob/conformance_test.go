package azblob

import (
	"context"
	"testing"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/objectstore"
	"github.com/tenure-go/tenure/internal/testserver"
	"github.com/tenure-go/tenure/tenuretest"
)

func TestConformance(t *testing.T) {
	server := testserver.StartAzurite(t)
	open := func(t *testing.T) tenure.Store { return openStore(t, server, server.Addr) }
	remove := func(t *testing.T, election string) {
		// The names that the kit deletes need no escaping.
		name := objectstore.DefaultPrefix + "elections/" + election + ".json"
		if _, err := client(t, server, server.Addr).NewBlobClient(name).Delete(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	tenuretest.Run(t, open, tenuretest.WithSecond(open), tenuretest.WithDelete(remove))
}

// The rules hold whether or not the lease of a blob is held too.
func TestConformanceWithBlobLease(t *testing.T) {
	server := testserver.StartAzurite(t)
	open := func(t *testing.T) tenure.Store {
		return shortTerms{
			openStore(t, server, server.Addr, WithBlobLease("locks/*")), openStore(t, server, server.Addr),
		}
	}
	tenuretest.Run(t, open)
}

// shortTerms passes on to another store what a store with leases refuses: TTLs that no lease of a blob can last.
type shortTerms struct {
	*Store
	long *Store
}

func (s shortTerms) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	if record.TTL > maxLease {
		return s.long.CompareAndSwap(ctx, election, old, record)
	}
	return s.Store.CompareAndSwap(ctx, election, old, record)
}
