package fence_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/tenure-go/tenure/fence"
)

// A leader that was deposed wakes up and writes its report, which the new one has written already.
func ExamplePut() {
	ctx, store := context.Background(), newBucket()
	fmt.Println(fence.Put(ctx, store, "report", []byte("of term 8"), nil, "billing", 8))

	err := fence.Put(ctx, store, "report", []byte("of term 7"), nil, "billing", 7)
	fmt.Println("too late:", errors.Is(err, fence.ErrStale))
	// Output:
	// <nil>
	// too late: true
}
