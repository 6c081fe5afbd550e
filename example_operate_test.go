package tenure_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

// Anybody who reaches the store can ask the leader to go.
func ExampleAsk() {
	store := memory.New()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	c, _ := tenure.New(store, "billing", tenure.WithID("node-a"))
	err := c.Run(ctx, func(term context.Context, _ tenure.Term) error {
		if _, err := tenure.Ask(ctx, store, "billing", tenure.Request{By: "ops"}); err != nil {
			return err
		}
		<-term.Done()
		fmt.Println("the leader has to go:", context.Cause(term))
		stop()
		return nil
	})
	fmt.Println("stopped:", errors.Is(err, context.Canceled))
	// Output:
	// the leader has to go: tenure: resigned
	// stopped: true
}

// An observer follows an election without standing.
func ExampleObserve() {
	store := memory.New()
	c, _ := tenure.New(store, "billing", tenure.WithID("node-a"))
	for change, err := range tenure.Observe(context.Background(), store, "billing") {
		switch {
		case err != nil:
			fmt.Println(err)
			return
		case change.Kind == tenure.ChangeFirst:
			fmt.Println("led:", change.Led())
			_, _ = c.TryAcquire(context.Background())
		case change.Kind == tenure.ChangeElected:
			fmt.Println(change.Record.Leader, "was elected with token", change.Record.Token)
			c.Idle()
			_ = c.Stop(context.Background())
		case change.Kind == tenure.ChangeReleased:
			fmt.Println("the seat is vacant")
			return
		}
	}
	// Output:
	// led: false
	// node-a was elected with token 1
	// the seat is vacant
}
