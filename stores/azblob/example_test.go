package azblob_test

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/stores/azblob"
)

func Example() {
	ctx := context.Background()
	store, err := azblob.Open(ctx, "azblob://myaccount/elections?create=true")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	candidate, err := tenure.New(store, "nightly")
	if err != nil {
		fmt.Println(err)
		return
	}
	err = candidate.Run(ctx, func(ctx context.Context, term tenure.Term) error {
		fmt.Println("leading with token", term.Token)
		<-ctx.Done()
		return nil
	})
	fmt.Println(err)
}

// A client of the program's own, with an identity of its own, stays the program's. A fleet that moves from a program which
// uses the lease of the blob "locks/nightly" excludes it, and is excluded.
func ExampleWithBlobLease() {
	identity, err := azidentity.NewManagedIdentityCredential(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := container.NewClient("https://myaccount.blob.core.windows.net/elections", identity, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	store, err := azblob.New(client, azblob.WithBlobLease("locks/nightly"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	_, err = tenure.New(store, "nightly") // and run it, as above
	fmt.Println(err)
}
