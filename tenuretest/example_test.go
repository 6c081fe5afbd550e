package tenuretest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
	"github.com/tenure-go/tenure/tenuretest"
)

// A store's test needs no more than this. Stores with data outside the process open one client of the same data
// after the other, and pass the function as WithSecond too.
func ExampleRun() {
	testStore := func(t *testing.T) { // func TestStore(t *testing.T)
		open := func(t *testing.T) tenure.Store {
			store := memory.New()
			t.Cleanup(func() { store.Close() })
			return store
		}
		tenuretest.Run(t, open)
	}
	_ = testStore
}

// A swap whose reply is lost has an unknown outcome: here it was carried out.
func ExampleNewFaulty() {
	ctx := context.Background()
	faulty := tenuretest.NewFaulty(memory.New())
	faulty.Inject(tenuretest.LoseReply().On(tenuretest.OpSwap).Times(1))

	_, err := faulty.CompareAndSwap(ctx, "billing", "", tenure.Record{Token: 1})
	fmt.Println(err)
	found, err := faulty.Load(ctx, "billing")
	fmt.Println(found.Record.Token, err)
	// Output:
	// tenuretest: lost on the way
	// 1 <nil>
}

// An outage: the store refuses all calls and interrupts its watches, until both are healed.
func ExampleFaulty_inject() {
	faulty := tenuretest.NewFaulty(memory.New())
	away := errors.New("connection refused")
	heal := faulty.Inject(tenuretest.Fail(away), tenuretest.Interrupt(away))

	_, err := faulty.Load(context.Background(), "billing")
	fmt.Println(err)
	heal()
	_, err = faulty.Load(context.Background(), "billing")
	fmt.Println(err)
	// Output:
	// connection refused
	// <nil>
}

// A test of the load that a program puts on its store counts the calls.
func ExampleFaulty_calls() {
	faulty := tenuretest.NewFaulty(memory.New())
	for range 3 {
		_, _ = faulty.CompareAndSwap(context.Background(), "billing", "", tenure.Record{Token: 1})
	}
	swaps := faulty.Calls().Swap
	fmt.Println(swaps.Total(), "swaps,", swaps.Conflict, "of them conflicts")
	// Output: 3 swaps, 2 of them conflicts
}
