package main

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure/cmd/tenure/internal/sidecar"
	"github.com/tenure-go/tenure/memory"
)

// TestProbe asks a real sidecar over TCP and over a Unix socket, though every other request needs a token.
func TestProbe(t *testing.T) {
	for _, listen := range []string{"127.0.0.1:0", "unix:" + filepath.Join(t.TempDir(), "s")} {
		listen, stop := serveAt(t, listen)
		must(t, "probe", "--listen", listen, "--timeout", "30s")
		stop()
		if o := call(t, "probe", "--listen", listen); o.code != codeFailed || !strings.Contains(o.stderr, "no sidecar serves") {
			t.Errorf("%s: %+v, want 125 once nobody serves", listen, o)
		}
	}
}

// serveAt serves until stop is called, and returns the address with the port that it was given.
func serveAt(t *testing.T, listen string) (at string, stop func()) {
	t.Helper()
	address, err := sidecar.ParseAddress(listen)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sidecar.New(sidecar.Options{
		Store: memory.New(), Address: address, Token: strings.Repeat("t", 32), StoreTimeout: time.Second,
		Describe: describeChange, Logger: slog.New(slog.DiscardHandler),
		Elections: []sidecar.Election{{Name: "x", Campaign: true, TTL: testTTL, Drain: testTTL / 5}},
	})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := address.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if listener.Addr().Network() == "tcp" {
		listen = listener.Addr().String()
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, listener) }()
	return listen, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// TestProbeOfWhatIsNoSidecar: somebody else at the address, and one that accepts and says nothing, are not healthy.
func TestProbeOfWhatIsNoSidecar(t *testing.T) {
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	o := call(t, "probe", "--listen", strings.TrimPrefix(other.URL, "http://"))
	if o.code != codeFailed || !strings.Contains(o.stderr, "404") {
		t.Errorf("%+v, want 125", o)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	o = call(t, "probe", "--listen", silent.Addr().String(), "--timeout", "50ms")
	if o.code != codeTimeout || !strings.Contains(o.stderr, "within 50ms") {
		t.Errorf("%+v, want 124", o)
	}
}
