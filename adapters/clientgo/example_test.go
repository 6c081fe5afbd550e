package tenureclientgo_test

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/tools/leaderelection"

	tenureclientgo "github.com/tenure-go/tenure/adapters/clientgo"
	"github.com/tenure-go/tenure/memory"
)

// An elector of client-go over a tenure store. Controller-runtime takes the lock in
// manager.Options.LeaderElectionResourceLockInterface.
func ExampleNewLock() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	lock, err := tenureclientgo.NewLock(memory.New(), "my-controller", "node-a")
	if err != nil {
		fmt.Println(err)
		return
	}
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock:          lock,
		LeaseDuration: 15 * time.Second,
		RenewDeadline: 10 * time.Second,
		RetryPeriod:   2 * time.Second,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) {
				token, _ := lock.Token()
				fmt.Println("leading in term", token)
				cancel() // a controller would work until its context ends
			},
			OnStoppedLeading: func() {},
		},
	})
	// Output: leading in term 1
}
