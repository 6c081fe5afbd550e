package s3

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/objectstore/objecttest"
	"github.com/tenure-go/tenure/internal/testserver"
)

// setEnvironment has the usual chain find credentials in the environment.
func setEnvironment(t *testing.T, server *testserver.VersityGW) {
	t.Helper()
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": server.AccessKey, "AWS_SECRET_ACCESS_KEY": server.SecretKey, "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_REGION": "",
	} {
		t.Setenv(name, value)
	}
}

// The SDK's client hides the transport whose connections have to be closed.
func TestCloseLeavesNoConnection(t *testing.T) {
	server := testserver.StartVersityGW(t)
	setEnvironment(t, server)
	t.Setenv("AWS_CA_BUNDLE", "") // as most have it; the SDK makes its client elsewhere then
	proxy := objecttest.Patient(t, server.Addr)
	s, err := Open(t.Context(), "s3://"+server.Bucket+"?path-style=true&endpoint="+url.QueryEscape("http://"+proxy.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	objecttest.ConnectionsClosed(t, s, proxy)
}

func TestOpen(t *testing.T) {
	server := testserver.StartVersityGW(t)
	setEnvironment(t, server)
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
