package azblob

import (
	"context"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/objectstore"
	"github.com/tenure-go/tenure/internal/objectstore/objecttest"
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

// client returns one for a container of the server, through addr.
func client(t *testing.T, server *testserver.Azurite, addr string) *container.Client {
	t.Helper()
	key, err := blob.NewSharedKeyCredential(server.Account, server.Key)
	if err != nil {
		t.Fatal(err)
	}
	c, err := container.NewClientWithSharedKeyCredential(server.Endpoint(addr)+"/elections", key, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// openStore returns a store on the server, through addr.
func openStore(t *testing.T, server *testserver.Azurite, addr string, options ...Option) *Store {
	t.Helper()
	s, err := New(client(t, server, addr), append([]Option{WithCreate(true)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func serverUnderTest(t *testing.T) objecttest.Server {
	t.Helper()
	server := testserver.StartAzurite(t)
	open := func(addr string) tenure.Store { return openStore(t, server, addr) }
	return objecttest.Server{Process: server.Process, Addr: server.Addr, Halt: server.Stop, Open: open}
}
