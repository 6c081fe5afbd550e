package objecttest

import (
	"io"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/httpproxy"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/tcpproxy"
)

// Closing is a store that has to be closed.
type Closing interface {
	tenure.Store
	io.Closer
}

// Patient returns a proxy before a server, in which clients alone end idle connections: some servers do, too.
func Patient(t TB, addr string) *tcpproxy.Proxy {
	t.Helper()
	return tcpproxy.Start(t, httpproxy.Start(t, addr).Addr())
}

// ConnectionsClosed checks that a store with a client of its own, which reaches its server through a [Patient] proxy
// alone, leaves no connection open when it is closed.
func ConnectionsClosed(t TB, s Closing, proxy *tcpproxy.Proxy) {
	t.Helper()
	storetest.Swap(t, s, "e", "", storetest.Held(1, "a"))
	if proxy.Connections() == 0 {
		t.Fatalf("the store keeps no connection that it could leave behind")
	}
	if err := s.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
	storetest.Eventually(t, "its connections are closed", func() bool { return proxy.Connections() == 0 })
}
