//go:build linux

package beds

import (
	"bytes"
	"io"
	"net"
	"sync"

	"github.com/tenure-go/tenure/internal/testserver"
)

// announcer stands before a server that tells its clients where others are, and has it name their proxies: ports in its
// answers are replaced by those of the same length.
type announcer struct {
	upstream string
	ports    map[string]string // not changed once connections are made

	mu    sync.Mutex
	conns []net.Conn
}

// startAnnouncer returns the address to connect to. ports may be filled in until the first connection is made.
func startAnnouncer(tb testserver.TB, upstream string, ports map[string]string) string {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatalf("listen before a server that announces others: %v", err)
	}
	a := &announcer{upstream: upstream, ports: ports}
	var serving sync.WaitGroup
	serving.Go(func() { a.serve(listener, &serving) })
	tb.Cleanup(func() {
		_ = listener.Close()
		a.cut()
		serving.Wait()
	})
	return listener.Addr().String()
}

func (a *announcer) serve(listener net.Listener, serving *sync.WaitGroup) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return // closed
		}
		serving.Go(func() { a.forward(client) })
	}
}

func (a *announcer) forward(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial("tcp", a.upstream)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	a.mu.Lock()
	a.conns = append(a.conns, client, server)
	a.mu.Unlock()
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	buffer := make([]byte, 64<<10)
	for {
		n, err := server.Read(buffer)
		if n > 0 {
			if _, err := client.Write(a.translate(buffer[:n])); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// translate works on what one read returns: a port torn in two by that is passed on as it is, and its client comes to
// the server by itself. Answers are far shorter than a segment, so that it does not happen on a loopback.
func (a *announcer) translate(text []byte) []byte {
	for from, to := range a.ports {
		text = bytes.ReplaceAll(text, []byte(from), []byte(to))
	}
	return text
}

func (a *announcer) cut() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, conn := range a.conns {
		_ = conn.Close()
	}
}
