//go:build unix

package file_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/file"
)

// Two programs on one host, here two stores in one program, share a directory.
func Example() {
	dir, err := os.MkdirTemp("", "elections")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()

	one, err := file.Open(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer one.Close()
	before, _ := one.Load(ctx, "billing")
	record := tenure.Record{Token: before.Record.Token + 1, Leader: "node-a", Session: "4f1d", TTL: 10 * time.Second}
	_, err = one.CompareAndSwap(ctx, "billing", before.Version, record)
	fmt.Println("node-a:", err)

	two, err := file.Open(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer two.Close()
	seen, err := two.Load(ctx, "billing")
	fmt.Printf("leader %s, token %d, abandoned %v, %v\n", seen.Record.Leader, seen.Record.Token, seen.Abandoned, err)
	// Output:
	// node-a: <nil>
	// leader node-a, token 1, abandoned false, <nil>
}
