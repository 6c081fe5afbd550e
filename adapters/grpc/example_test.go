package tenuregrpc_test

import (
	"context"
	"fmt"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/interop/grpc_testing"

	"github.com/tenure-go/tenure"
	tenuregrpc "github.com/tenure-go/tenure/adapters/grpc"
	"github.com/tenure-go/tenure/leaderhttp"
	"github.com/tenure-go/tenure/memory"
)

// ledger is the service that the leader offers; each call says under which term.
type ledger struct {
	grpc_testing.UnimplementedTestServiceServer
}

func (ledger) UnaryCall(
	ctx context.Context, _ *grpc_testing.SimpleRequest,
) (*grpc_testing.SimpleResponse, error) {
	term, _ := leaderhttp.Term(ctx)
	return &grpc_testing.SimpleResponse{ServerId: fmt.Sprint("served in term ", term.Token)}, nil
}

// A server that serves only while it leads, and a client that finds it wherever it is.
func Example() {
	store := memory.New() // in real life one that all processes share
	ctx := context.Background()

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	candidate, err := tenure.New(store, "billing", tenure.WithAddress(listener.Addr().String()))
	if err != nil {
		fmt.Println(err)
		return
	}
	gate, err := tenuregrpc.NewGate(candidate)
	if err != nil {
		fmt.Println(err)
		return
	}
	server := grpc.NewServer(grpc.UnaryInterceptor(gate.Unary), grpc.StreamInterceptor(gate.Stream))
	grpc_testing.RegisterTestServiceServer(server, ledger{})
	go server.Serve(listener)
	defer server.Stop()
	if _, err := candidate.TryAcquire(ctx); err != nil { // a program would Start it
		fmt.Println(err)
		return
	}
	defer candidate.Stop(ctx)

	resolver, err := tenuregrpc.NewResolver(store)
	if err != nil {
		fmt.Println(err)
		return
	}
	conn, err := grpc.NewClient(tenuregrpc.Target("billing"), grpc.WithResolvers(resolver),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()
	client := grpc_testing.NewTestServiceClient(conn)
	resp, err := client.UnaryCall(ctx, &grpc_testing.SimpleRequest{}, grpc.WaitForReady(true))
	fmt.Println(resp.GetServerId(), err)
	// Output: served in term 1 <nil>
}
