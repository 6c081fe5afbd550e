package tcpproxy

import (
	"net"
	"sync"
	"time"
)

// link is a pair of connections: the client's and the one to the server.
type link struct {
	client *net.TCPConn
	cut    chan struct{} // closed by reset
	loses  bool          // the next reply; guarded by the proxy's mutex

	mu     sync.Mutex
	server *net.TCPConn // nil until it is connected
	isCut  bool
}

// connect sets the server's connection, unless the link was cut meanwhile.
func (l *link) connect(server *net.TCPConn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isCut {
		_ = server.Close()
		return false
	}
	l.server = server
	return true
}

// reset closes both connections such that their other ends see a reset, not an orderly end.
func (l *link) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isCut {
		return
	}
	l.isCut = true
	close(l.cut)
	for _, conn := range []*net.TCPConn{l.client, l.server} {
		if conn != nil {
			_ = conn.SetLinger(0)
			_ = conn.Close()
		}
	}
}

// serve forwards one connection until either end closes it or a fault does.
func (p *Proxy) serve(client *net.TCPConn) {
	defer p.tasks.Done()
	l := &link{client: client, cut: make(chan struct{})}
	upstream, ok := p.admit(l)
	if !ok {
		l.reset()
		return
	}
	defer p.forget(l)
	server, err := net.DialTimeout("tcp", upstream, 10*time.Second)
	if err != nil {
		l.reset()
		return
	}
	if !l.connect(server.(*net.TCPConn)) {
		return
	}
	var pumps sync.WaitGroup
	pumps.Go(func() { p.pump(l, l.server, l.client, &p.requests) })
	pumps.Go(func() { p.pump(l, l.client, l.server, &p.replies) })
	pumps.Wait()
	_ = l.client.Close()
	_ = l.server.Close()
}

func (p *Proxy) admit(l *link) (upstream string, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuse || p.closed {
		return "", false
	}
	p.links[l] = true
	return p.upstream, true
}

func (p *Proxy) forget(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
}

// pump carries one direction. When its source ends it ends its target's direction only, as TCP does.
func (p *Proxy) pump(l *link, to, from *net.TCPConn, g *gate) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if !p.pass(l, g, buffer[:n]) {
				l.reset()
				return
			}
			if _, err := to.Write(buffer[:n]); err != nil {
				l.reset()
				return
			}
		}
		if err != nil {
			if p.pass(l, g, nil) { // an end is held back like data: behind a partition nobody learns of it
				_ = to.CloseWrite()
			}
			return
		}
	}
}

// pass waits as long as the gate wants, and tells whether the data may go on.
func (p *Proxy) pass(l *link, g *gate, data []byte) bool {
	p.mu.Lock()
	delay := g.delay
	p.mu.Unlock()
	if delay > 0 {
		select {
		case <-time.After(delay):
		case <-l.cut:
			return false
		}
	}
	for {
		p.mu.Lock()
		held := g.held
		if held == nil {
			g.bytes += int64(len(data))
			ok := p.survives(l, g, data)
			p.mu.Unlock()
			return ok
		}
		p.mu.Unlock()
		select {
		case <-held:
		case <-l.cut:
			return false
		}
	}
}

// survives notes a request whose reply is to be lost, and loses it. p.mu is held.
func (p *Proxy) survives(l *link, g *gate, data []byte) bool {
	if g == &p.replies {
		return !l.loses
	}
	if p.match != nil && len(data) > 0 && p.match(data) {
		p.match, l.loses = nil, true
	}
	return true
}
