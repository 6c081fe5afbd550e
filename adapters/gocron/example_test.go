package gocron_test

import (
	"context"
	"fmt"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/tenure-go/tenure"
	adapter "github.com/tenure-go/tenure/adapters/gocron"
	"github.com/tenure-go/tenure/memory"
)

// Every process makes the same scheduler; the job runs on the leader alone, and ends with its term.
func ExampleTask() {
	ctx := context.Background()
	candidate, err := tenure.New(memory.New(), "reports")
	if err != nil {
		panic(err)
	}
	if err := candidate.Start(ctx); err != nil {
		panic(err)
	}
	scheduler, err := gocron.NewScheduler()
	if err != nil {
		panic(err)
	}
	done := make(chan string, 1)
	_, err = scheduler.NewJob(
		gocron.DurationJob(time.Millisecond),
		gocron.NewTask(adapter.Task(candidate, func(_ context.Context, term tenure.Term) error {
			select {
			case done <- fmt.Sprint("report of term ", term.Token):
			default:
			}
			return nil
		})),
	)
	if err != nil {
		panic(err)
	}
	scheduler.Start()
	fmt.Println(<-done)
	if err := scheduler.Shutdown(); err != nil {
		panic(err)
	}
	// Output: report of term 1
}
