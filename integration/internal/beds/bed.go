//go:build linux

package beds

import (
	"fmt"
	"strings"

	"github.com/tenure-go/tenure/integration/internal/network"
	"github.com/tenure-go/tenure/internal/httpproxy"
	"github.com/tenure-go/tenure/internal/tcpproxy"
	"github.com/tenure-go/tenure/internal/testserver"
)

// Bed is a store and how its server runs.
type Bed struct {
	// Name is how flags call it.
	Name string
	// About says in a few words what runs.
	About string
	// Tags are the build tags without which the command tenure does not have this store, empty for none.
	Tags string
	// Start starts the server, and has it ready for candidates. What it starts ends with tb.
	Start func(tb testserver.TB) (*Server, error)
}

// Server is what a bed has started. A field that is nil or empty is something that this store does not have.
type Server struct {
	// Version is the server's own name and version.
	Version string
	// Addrs are the addresses that clients connect to.
	Addrs []string
	// URL returns the store's URL with other addresses in the places of Addrs.
	URL func(addrs []string) string
	// Env is what candidates need in their environment.
	Env []string
	// Nodes are the server's processes.
	Nodes []Node
	// Loses tells that the death of a node may lose acknowledged writes.
	Loses bool
	// Gentle tells that it is no real service: killed it would lose what the service it stands for keeps, so that it may
	// only be stopped in good order.
	Gentle bool
	// Revoke takes the candidates' right to use the store away until restore is called.
	Revoke func() (restore func() error, err error)
	// ChangeLeader has another node lead, and tells which.
	ChangeLeader func() (string, error)
	// ChangeLoses tells that acknowledged writes may be lost by that.
	ChangeLoses bool
	// Wipe removes all that the store keeps, while no candidate runs.
	Wipe func() error
	// HTTP tells that clients speak HTTP, and Denied is then what a server answers that no longer knows their key.
	HTTP   bool
	Denied httpproxy.Fault
	// Announced are those of Addrs at which other addresses of Addrs are announced to clients.
	Announced []string
	// Pool tells that a candidate can exhaust its own pool of connections.
	Pool bool
}

// Node is one process of the server.
type Node struct {
	Name string

	*testserver.Process
}

// Find returns the bed of a name.
func Find(name string) (Bed, error) {
	var names []string
	for _, b := range All() {
		if b.Name == name {
			return b, nil
		}
		names = append(names, b.Name)
	}
	return Bed{}, fmt.Errorf("there is no store %q; there are %s", name, strings.Join(names, ", "))
}

// All returns all beds.
func All() []Bed {
	return []Bed{
		File(), SQLite(), Postgres(), PostgresAdvisory(), PostgresStandby(), PostgresReplica(), MariaDB(), NATS(),
		NATSCluster(), EtcdCluster(), Kubernetes(), Redis(), RedisSentinel(), S3(), AzureBlob(), Memcached(),
	}
}

// Line is one candidate's way to the server: a proxy for each of its addresses.
type Line struct {
	// URL is the store's, through the line.
	URL string
	TCP []*tcpproxy.Proxy
	// HTTP are behind those of TCP, where clients speak HTTP.
	HTTP []*httpproxy.Proxy
	// Network is between the candidate and the proxies.
	Network *network.Network
}

// Line makes a candidate's way to the server, through its network. It ends with tb.
func (s *Server) Line(tb testserver.TB, n *network.Network) *Line {
	tb.Helper()
	l := &Line{Network: n}
	announced := map[string]string{} // hosts and ports that are announced, and those of the proxy before them
	var through []string
	for _, addr := range s.Addrs {
		next := addr
		for _, a := range s.Announced {
			if a == addr {
				next = startAnnouncer(tb, addr, announced)
			}
		}
		if s.HTTP {
			proxy := httpproxy.Start(tb, addr)
			l.HTTP, next = append(l.HTTP, proxy), proxy.Addr()
		}
		proxy := l.proxy(tb, next)
		l.TCP, through = append(l.TCP, proxy), append(through, proxy.Addr())
		announce(announced, addr, proxy.Addr())
	}
	l.URL = s.URL(through)
	return l
}

// proxy starts one at the end of the network.
func (l *Line) proxy(tb testserver.TB, upstream string) *tcpproxy.Proxy {
	tb.Helper()
	listener, err := l.Network.Listen()
	if err != nil {
		tb.Fatalf("listen for a candidate: %v", err)
	}
	proxy := tcpproxy.Serve(listener, upstream)
	tb.Cleanup(proxy.Close)
	return proxy
}
