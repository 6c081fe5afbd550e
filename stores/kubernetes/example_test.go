package kubernetes_test

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"

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

// A leader writes a ConfigMap such that it cannot once it was deposed, whatever it believes.
func ExampleFence() {
	config, err := rest.InClusterConfig()
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := corev1.NewForConfig(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	var candidate *tenure.Candidate // of tenure.New
	err = candidate.Run(context.Background(), func(ctx context.Context, term tenure.Term) error {
		return send(ctx, client.ConfigMaps("billing"), term)
	})
	fmt.Println(err)
}

func send(ctx context.Context, reports corev1.ConfigMapInterface, term tenure.Term) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		report, err := reports.Get(ctx, "report", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if err := kubernetes.Fence(report, term.Election, term.Token); err != nil {
			return err // fence.ErrStale: deposed
		}
		report.Data = map[string]string{"state": "sent"}
		_, err = reports.Update(ctx, report, metav1.UpdateOptions{})
		return err
	})
}
