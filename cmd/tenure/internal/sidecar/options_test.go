package sidecar

import (
	"crypto/tls"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure/memory"
)

func TestOptionsRefused(t *testing.T) {
	t.Parallel()
	everywhere := address(t, "0.0.0.0:0")
	for _, c := range []struct {
		name   string
		spoil  func(*Options)
		wanted string
	}{
		{"nothing to serve", func(o *Options) { o.Elections = nil }, "no election to serve"},
		{"no address", func(o *Options) { o.Address = Address{} }, "no address"},
		{"too few streams", func(o *Options) { o.MaxStreams = -1 }, "between 1 and 100000"},
		{"too many streams", func(o *Options) { o.MaxStreams = 100_001 }, "between 1 and 100000"},
		{"open to everybody", func(o *Options) { o.Address = everywhere }, "have to prove who they are"},
		{"TLS open to everybody", func(o *Options) { o.Address, o.TLS = everywhere, &tls.Config{} }, "have to prove"},
		{"certificate that is not checked", func(o *Options) {
			o.Address, o.TLS = everywhere, &tls.Config{ClientAuth: tls.RequireAnyClientCert}
		}, "have to prove"},
		{"twice", func(o *Options) { o.Elections = append(o.Elections, o.Elections[0]) }, `"x" is given twice`},
		{"no name", func(o *Options) { o.Elections[0].Name = "" }, "has no name"},
		{"name that is no path", func(o *Options) { o.Elections[0].Name = ".." }, "part of a URL's path"},
		{"TTL", func(o *Options) { o.Elections[0].TTL = 0 }, "TTL 0s must be between"},
		{"TTL of campaigns", func(o *Options) { o.Elections[0].TTL, o.Elections[0].Campaign = 0, true }, "TTL 0s must be between"},
		{"drain", func(o *Options) { o.Elections[0].Drain = time.Minute }, "drain"},
		{"no drain of campaigns", func(o *Options) { o.Elections[0].Drain, o.Elections[0].Campaign = 0, true }, "want 100ms at least"},
		{"address of campaigns", func(o *Options) { o.Elections[0].Address, o.Elections[0].Campaign = "x", true }, "clients bring"},
		{"ID", func(o *Options) { o.ID = "a\nb" }, "control character"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Options{
				Store: memory.New(), Address: address(t, "localhost:0"),
				Elections: []Election{{Name: "x", TTL: time.Second, Drain: 100 * time.Millisecond}},
			}
			if _, err := New(o); err != nil {
				t.Fatal(err)
			}
			c.spoil(&o)
			if _, err := New(o); err == nil || !strings.Contains(err.Error(), c.wanted) {
				t.Errorf("got %v, want %q", err, c.wanted)
			}
		})
	}
}

func TestParseAddress(t *testing.T) {
	t.Parallel()
	for text, local := range map[string]bool{
		"127.0.0.1:8732": true, "localhost:80": true, "[::1]:80": true, "127.9.9.9:0": true, "unix:/run/x": true,
		"[::ffff:127.0.0.1]:80": true,
		":8732":                 false, "0.0.0.0:80": false, "[::]:80": false, "10.0.0.1:80": false,
	} {
		if a := address(t, text); a.Local() != local {
			t.Errorf("%s: local is %v", text, a.Local())
		}
	}
	for text, want := range map[string]string{
		"": "want HOST:PORT", "8732": "want HOST:PORT", "localhost": "want HOST:PORT", "example.org:80": "must be an IP address",
		"127.0.0.1:http": "number from 0 to 65535", "127.0.0.1:65536": "number from 0", "unix:x": "absolute path",
		"unix:": "absolute path", "localhost.:80": "must be an IP address",
	} {
		if _, err := ParseAddress(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func TestUnixSocket(t *testing.T) {
	t.Parallel()
	a := unixAddress(t)
	path := a.address
	first, err := a.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := first.Addr().String(); got != path {
		t.Errorf("it says to be at %s, want %s", got, path)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("it has the mode %v, %v", info.Mode(), err)
	}
	if _, err := a.Listen(t.Context()); err == nil || !strings.Contains(err.Error(), "another process listens") {
		t.Errorf("got %v while it is in use", err)
	}
	_ = first.(*socket).Listener.Close() // as if it was killed: the file stays
	second, err := a.Listen(t.Context())
	if err != nil {
		t.Fatalf("what is left is not replaced: %v", err)
	}
	if conn, err := net.Dial("unix", path); err != nil {
		t.Error(err)
	} else {
		_ = conn.Close()
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) != 0 {
		t.Errorf("left are %q", left)
	}
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Listen(t.Context()); err == nil || !strings.Contains(err.Error(), "is no socket") {
		t.Errorf("got %v where there is a file", err)
	}
}

// TestOverAUnixSocket: whoever asks is known by the system.
func TestOverAUnixSocket(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(o *Options) { o.Address = unixAddress(t) })
	d.must("/v1/elections/open/pause", "")
	if !d.log.HasLine("action=pause", "uid ") && runtime.GOOS == "linux" {
		t.Error("nobody knows who asked")
	}
	if status, _ := d.do(d.request("GET", "/v1/elections", "", nil)); status != 200 {
		t.Errorf("got %d", status)
	}
}
