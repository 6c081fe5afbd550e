package httpproxy

import (
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"

	"github.com/tenure-go/tenure/internal/testserver"
)

// Proxy forwards HTTP requests to one server. All methods are safe for concurrent use.
type Proxy struct {
	listener net.Listener
	server   http.Server
	served   chan struct{}
	forward  httputil.ReverseProxy

	mu         sync.Mutex
	injections []*Injection
	counts     map[string]int
}

// Listen forwards from a free loopback port to upstream, a host and a port. The server sees the Host header that the
// client has sent, which signatures of requests may cover.
func Listen(upstream string) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: listener, served: make(chan struct{}), counts: map[string]int{}}
	target := &url.URL{Scheme: "http", Host: upstream}
	p.forward = httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host
			r.Out.URL.RawQuery = r.In.URL.RawQuery
		},
		// What a server that is away looks like through a proxy of TCP: no answer, and the connection is gone.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		Transport:    &http.Transport{DisableCompression: true},
	}
	p.server.Handler = http.HandlerFunc(p.serve)
	go func() {
		defer close(p.served)
		_ = p.server.Serve(listener) // it ends by Close
	}()
	return p, nil
}

// Start is Listen in a test, at whose end the proxy is closed.
func Start(tb testserver.TB, upstream string) *Proxy {
	tb.Helper()
	p, err := Listen(upstream)
	if err != nil {
		tb.Fatalf("listen: %v", err)
	}
	tb.Cleanup(p.Close)
	return p
}

// Addr returns the host and port to connect to.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// URL returns what clients use in the place of the server's URL.
func (p *Proxy) URL() string { return "http://" + p.Addr() }

// Count returns how many requests of a method have arrived, those that met a fault included; of an empty method, how
// many in all.
func (p *Proxy) Count(method string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if method != "" {
		return p.counts[method]
	}
	sum := 0
	for _, n := range p.counts {
		sum += n
	}
	return sum
}

// Close listens no more, cuts all connections, and ends the requests that hang.
func (p *Proxy) Close() {
	_ = p.server.Close()
	<-p.served
	p.forward.Transport.(*http.Transport).CloseIdleConnections()
}

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	in := p.meet(r)
	if in == nil {
		p.forward.ServeHTTP(w, r)
		return
	}
	in.fault.act(in, w, r)
}
