package tcpproxy

import (
	"net"
	"sync"
	"time"

	"github.com/tenure-go/tenure/internal/testserver"
)

// Proxy forwards connections to one server. All methods are safe for concurrent use.
type Proxy struct {
	listener net.Listener
	tasks    sync.WaitGroup

	mu       sync.Mutex
	upstream string
	links    map[*link]bool
	refuse   bool
	closed   bool
	requests gate
	replies  gate
	match    func(request []byte) bool // of the request whose reply is to be lost, nil if none is
}

// gate is what happens to the bytes of one direction.
type gate struct {
	held  chan struct{} // closed when the bytes may go on; nil while they may
	delay time.Duration
	bytes int64
}

// Listen forwards from a free loopback port to upstream, a host and a port.
func Listen(upstream string) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return Serve(listener, upstream), nil
}

// Serve forwards from a listener of TCP, which the proxy closes, to upstream.
func Serve(listener net.Listener, upstream string) *Proxy {
	p := &Proxy{listener: listener, upstream: upstream, links: map[*link]bool{}}
	p.tasks.Add(1)
	go p.accept()
	return p
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

// Port returns the port to connect to.
func (p *Proxy) Port() int { return p.listener.Addr().(*net.TCPAddr).Port }

// SetUpstream forwards new connections to another server.
func (p *Proxy) SetUpstream(upstream string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.upstream = upstream
}

// Cut resets all connections. New ones are made as before.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.reset()
	}
}

// Refuse resets new connections at once, as a host without a server does, or ends that. Existing ones stay.
func (p *Proxy) Refuse(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse = on
}

// Hold keeps connections open and lets nothing pass in either direction, as a partition does, until Release. New
// connections are accepted, and carry nothing.
func (p *Proxy) Hold() {
	p.HoldRequests()
	p.HoldReplies()
}

// HoldRequests lets nothing pass to the server until Release.
func (p *Proxy) HoldRequests() { p.hold(&p.requests) }

// HoldReplies lets nothing pass from the server until Release.
func (p *Proxy) HoldReplies() { p.hold(&p.replies) }

// Release lets pass what was held, in order.
func (p *Proxy) Release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests.release()
	p.replies.release()
}

// Delay makes each piece of data in each direction wait for d.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests.delay, p.replies.delay = d, d
}

// LoseReply waits for a request for which match is true, lets it through to the server, and resets the connection
// when the server has answered: the client cannot know what became of it. That happens once. match gets the bytes of
// one read from the client, which need not be one whole request, and must not keep them. The channel is closed when a
// reply was lost.
func (p *Proxy) LoseReply(match func(request []byte) bool) <-chan struct{} {
	lost := make(chan struct{})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.match = func(request []byte) bool {
		if !match(request) {
			return false
		}
		close(lost)
		return true
	}
	return lost
}

// Carried returns how many bytes passed to the server and from it.
func (p *Proxy) Carried() (requests, replies int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests.bytes, p.replies.bytes
}

// Connections returns how many connections are open.
func (p *Proxy) Connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.links)
}

// Close resets all connections, listens no more, and returns when nothing of the proxy runs any longer.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	_ = p.listener.Close()
	p.Cut()
	p.tasks.Wait()
}

func (p *Proxy) hold(g *gate) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if g.held == nil && !p.closed {
		g.held = make(chan struct{})
	}
}

func (g *gate) release() {
	if g.held != nil {
		close(g.held)
		g.held = nil
	}
}

func (p *Proxy) accept() {
	defer p.tasks.Done()
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		p.tasks.Add(1)
		go p.serve(client.(*net.TCPConn))
	}
}
