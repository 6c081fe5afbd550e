package tenure_test

import (
	"context"
	"fmt"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

// Run calls a function for every term that the candidate leads. Here the work is done once, so it returns.
func ExampleCandidate_Run() {
	store := memory.New()
	c, err := tenure.New(store, "billing", tenure.WithID("node-a"))
	if err != nil {
		panic(err)
	}
	err = c.Run(context.Background(), func(_ context.Context, term tenure.Term) error {
		fmt.Printf("%s leads %s with token %d\n", term.Leader, term.Election, term.Token)
		return nil
	})
	fmt.Println("error:", err)
	// Output:
	// node-a leads billing with token 1
	// error: <nil>
}

// Code that cannot be turned inside out waits for its term and holds it.
func ExampleCandidate_Campaign() {
	store := memory.New()
	c, err := tenure.New(store, "migrations")
	if err != nil {
		panic(err)
	}
	lead, err := c.Campaign(context.Background())
	if err != nil {
		panic(err)
	}
	fmt.Println("token:", lead.Term().Token, "ended:", lead.Context().Err() != nil)

	if err := lead.Resign(context.Background()); err != nil {
		panic(err)
	}
	fmt.Println("ended:", lead.Context().Err() != nil, "because:", context.Cause(lead.Context()))
	// Output:
	// token: 1 ended: false
	// ended: true because: tenure: stopped
}

// TryAcquire bids once; what it wins is renewed in the background.
func ExampleCandidate_TryAcquire() {
	store := memory.New()
	a, _ := tenure.New(store, "report", tenure.WithID("node-a"))
	b, _ := tenure.New(store, "report", tenure.WithID("node-b"))

	won, err := a.TryAcquire(context.Background())
	fmt.Println("node-a:", won, err)
	won, err = b.TryAcquire(context.Background())
	fmt.Println("node-b:", won, err)

	a.Idle() // nothing acts on the answer any more
	_ = a.Stop(context.Background())
	won, err = b.TryAcquire(context.Background())
	fmt.Println("node-b:", won, err)
	b.Idle()
	_ = b.Stop(context.Background())
	// Output:
	// node-a: true <nil>
	// node-b: false <nil>
	// node-b: true <nil>
}
