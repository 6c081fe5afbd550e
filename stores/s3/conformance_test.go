package s3

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/objectstore"
	"github.com/tenure-go/tenure/internal/objectstore/objecttest"
	"github.com/tenure-go/tenure/internal/testserver"
	"github.com/tenure-go/tenure/tenuretest"
)

func TestConformance(t *testing.T) {
	server := testserver.StartVersityGW(t)
	open := func(t *testing.T) tenure.Store { return openStore(t, server, server.Endpoint()) }
	remove := func(t *testing.T, election string) {
		// The names that the kit deletes need no escaping.
		if err := os.Remove(filepath.Join(server.Dir, objectstore.DefaultPrefix, "elections", election+".json")); err != nil {
			t.Fatal(err)
		}
	}
	tenuretest.Run(t, open, tenuretest.WithSecond(open), tenuretest.WithDelete(remove))
}

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

// The usual chain finds credentials in the environment.
func TestOpen(t *testing.T) {
	server := testserver.StartVersityGW(t)
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": server.AccessKey, "AWS_SECRET_ACCESS_KEY": server.SecretKey, "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_REGION": "",
	} {
		t.Setenv(name, value)
	}
	rawURL := "s3://" + server.Bucket + "/a/b?path-style=true&endpoint=" + url.QueryEscape(server.Endpoint())
	s, err := Open(t.Context(), rawURL)
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := s.CompareAndSwap(t.Context(), "e", "", tenure.Record{Token: 1})
	if err != nil || !snapshot.Exists() {
		t.Fatalf("%+v, %v", snapshot, err)
	}
	if _, err := os.Stat(filepath.Join(server.Dir, "a", "b", "elections", "e.json")); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.Load(t.Context(), "e"); err == nil {
		t.Error("a closed store loads")
	}

	t.Setenv("AWS_SECRET_ACCESS_KEY", "wrong-password")
	if _, err := Open(t.Context(), rawURL); !isPermanent(err) || strings.Contains(err.Error(), "wrong-password") {
		t.Errorf("with a wrong secret: %v", err)
	}
}

func isPermanent(err error) bool { return errors.Is(err, tenure.ErrPermanent) }
