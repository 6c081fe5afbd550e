package s3

import (
	"context"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/objectstore/objecttest"
	"github.com/tenure-go/tenure/internal/testserver"
)

// client returns one for the server, through endpoint.
func client(server *testserver.VersityGW, endpoint string) *s3.Client {
	return s3.New(s3.Options{
		Region: "us-east-1", UsePathStyle: true, BaseEndpoint: &endpoint,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: server.AccessKey, SecretAccessKey: server.SecretKey}, nil
		}),
	})
}

// openStore returns a store on the server, through endpoint.
func openStore(t *testing.T, server *testserver.VersityGW, endpoint string, options ...Option) *Store {
	t.Helper()
	s, err := New(client(server, endpoint), server.Bucket, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func serverUnderTest(t *testing.T) objecttest.Server {
	t.Helper()
	server := testserver.StartVersityGW(t)
	open := func(addr string) tenure.Store { return openStore(t, server, "http://"+addr) }
	return objecttest.Server{Process: server.Process, Addr: server.Addr, Halt: server.Kill, Open: open}
}

// failure is the body of a refusal.
func failure(code string) string {
	return fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?><Error><Code>%s</Code><Message>by the test</Message></Error>`, code)
}
