package natskv_test

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/stores/natskv"
)

// A program that has a connection to NATS elects leaders over it.
func Example() {
	conn, err := nats.Connect("nats://localhost:4222",
		nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond), nats.ReconnectBufSize(-1),
		nats.PingInterval(2*time.Second))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		fmt.Println(err)
		return
	}
	store, err := natskv.New(js, "elections", natskv.WithReplicas(3))
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

// Open makes the connection too, from a URL as the command takes it. A wrong one says what is wrong.
func ExampleOpen() {
	_, err := natskv.Open(context.Background(), "nats://localhost:4222/elections?replica=3")
	fmt.Println(err)
	// Output:
	// natskv: tenure: refused configuration: nats://localhost:4222/elections: there is no parameter "replica" of the URL; known: servers, replicas, storage, cluster, tags, description, create, sync, heartbeat, domain, creds, nkey, tls_ca, tls_cert, tls_key, inbox_prefix, name
}
