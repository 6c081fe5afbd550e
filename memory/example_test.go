package memory_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

// Two writers that start from the same state: the second is refused and has to look again.
func Example() {
	ctx := context.Background()
	store := memory.New()
	before, _ := store.Load(ctx, "billing")

	record := tenure.Record{Token: before.Record.Token + 1, Leader: "node-a", Session: "4f1d", TTL: 10 * time.Second}
	_, err := store.CompareAndSwap(ctx, "billing", before.Version, record)
	fmt.Println("node-a:", err)

	record.Leader, record.Session = "node-b", "93c2"
	_, err = store.CompareAndSwap(ctx, "billing", before.Version, record)
	fmt.Println("node-b is too late:", errors.Is(err, tenure.ErrConflict))
	// Output:
	// node-a: <nil>
	// node-b is too late: true
}
