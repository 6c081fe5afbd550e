package memcached_test

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/stores/memcached"
)

func Example() {
	ctx := context.Background()
	store, err := memcached.Open(ctx, "memcached://cache-1,cache-2/billing")
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

// Whoever watches over the system hears of a record that the cache has dropped.
func ExampleWithLossObserver() {
	ctx := context.Background()
	store, err := memcached.Open(ctx, "memcached://cache-1,cache-2/billing",
		memcached.WithLossObserver(func(loss memcached.Loss) {
			slog.Error("an election's record was lost", "election", loss.Election, "token", loss.Token)
		}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	_, err = tenure.New(store, "nightly") // and run it, as above
	fmt.Println(err)
}
