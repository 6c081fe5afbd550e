package testserver

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
)

// VersityGW is a running S3 server over a directory, whose writes survive that it is killed.
type VersityGW struct {
	*Process
	// Addr is its host and port.
	Addr string
	// AccessKey and SecretKey are those of its root user.
	AccessKey, SecretKey string
	// Bucket is one that it has.
	Bucket string
	// Dir is the directory of that bucket. An object is the file of that name in it.
	Dir string
}

// StartVersityGW starts a server with one bucket.
func StartVersityGW(tb TB) *VersityGW {
	tb.Helper()
	dir := Dir(tb)
	v := &VersityGW{
		Addr: Addr(Port(tb)), AccessKey: "tenure", SecretKey: "tenure-secret", Bucket: "elections",
		Dir: filepath.Join(dir, "elections"),
	}
	if err := os.Mkdir(v.Dir, 0o777); err != nil {
		tb.Fatalf("make a bucket: %v", err)
	}
	v.Process = Start(tb, Command{
		Program: Find(tb, "versitygw"),
		Args: []string{
			"--port", v.Addr, "--access", v.AccessKey, "--secret", v.SecretKey, "--health", "/health", "--quiet",
			"--keep-alive", "posix", dir,
		},
		Ready: getOK("http://" + v.Addr + "/health"),
	})
	return v
}

// Endpoint returns its URL.
func (v *VersityGW) Endpoint() string { return "http://" + v.Addr }

// getOK is a Ready for servers with a URL that answers 200 once they are.
func getOK(url string) func(context.Context) error {
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		_ = resp.Body.Close() // the status is all that matters
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answers %s", url, resp.Status)
		}
		return nil
	}
}
