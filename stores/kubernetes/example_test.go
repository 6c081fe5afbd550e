package kubernetes_test

import (
	"context"
	"errors"
	"fmt"

	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/stores/kubernetes"
)

// A program in a pod, with a client of its own for Leases alone.
func Example() {
	config, err := rest.InClusterConfig()
	if err != nil {
		fmt.Println(err)
		return
	}
	config.QPS = -1
	client, err := coordinationv1.NewForConfig(config) // or clientset.CoordinationV1()
	if err != nil {
		fmt.Println(err)
		return
	}
	store, err := kubernetes.New(client, "billing")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	candidate, err := tenure.New(store, "invoices")
	if err != nil {
		fmt.Println(err)
		return
	}
	err = candidate.Run(context.Background(), func(ctx context.Context, term tenure.Term) error {
		fmt.Println("leading with the fencing token", term.Token)
		<-ctx.Done()
		return nil
	})
	fmt.Println(err)
}

// Open makes the client too, from a URL as the command takes it. A wrong one says what is wrong.
func ExampleOpen() {
	_, err := kubernetes.Open(context.Background(), "kubernetes://billing/invoices")
	fmt.Println(errors.Is(err, tenure.ErrConfig))
	// Output:
	// true
}
