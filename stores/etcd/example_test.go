package etcd_test

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/stores/etcd"
)

// A program that has a client of etcd elects leaders over it.
func Example() {
	client, err := clientv3.New(clientv3.Config{
		Endpoints:         []string{"localhost:2379"},
		DialKeepAliveTime: 10 * time.Second, DialKeepAliveTimeout: 3 * time.Second,
		DialOptions: []grpc.DialOption{grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
			MinConnectTimeout: 2 * time.Second,
		})},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	store, err := etcd.New(client)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	candidate, err := tenure.New(store, "billing")
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
	_, err := etcd.Open(context.Background(), "etcd://localhost:2379/elections?pings=10s")
	fmt.Println(err)
	// Output:
	// etcd: opening: tenure: refused configuration: there is no parameter "pings" of the URL; known: ping, password_file, ca_file, cert_file, key_file, server_name
}
