//go:build linux

package beds

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"
	"sync"

	"github.com/tenure-go/tenure/internal/testserver"
)

// announcer stands before a Redis server that tells its clients where others are, and has it name their proxies.
type announcer struct {
	upstream string
	names    map[string]string // hosts and ports; not changed once connections are made

	mu    sync.Mutex
	conns []net.Conn
}

// startAnnouncer returns the address to connect to. names may be filled in until the first connection is made.
func startAnnouncer(tb testserver.TB, upstream string, names map[string]string) string {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatalf("listen before a server that announces others: %v", err)
	}
	a := &announcer{upstream: upstream, names: names}
	var serving sync.WaitGroup
	serving.Go(func() { a.serve(listener, &serving) })
	tb.Cleanup(func() {
		_ = listener.Close()
		a.cut()
		serving.Wait()
	})
	return listener.Addr().String()
}

// announce has one address be named in the place of another.
func announce(names map[string]string, addr, instead string) {
	host, port, err := net.SplitHostPort(addr)
	newHost, newPort, failed := net.SplitHostPort(instead)
	if err == nil && failed == nil {
		names[host], names[port] = newHost, newPort
	}
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
	for answers := bufio.NewReader(server); ; {
		piece, err := a.next(answers)
		if err != nil {
			return
		}
		if _, err := client.Write(piece); err != nil {
			return
		}
	}
}

// next returns the next piece of what a server says: a line, or a string with the line before it that has its length.
func (a *announcer) next(answers *bufio.Reader) ([]byte, error) {
	line, err := answers.ReadBytes('\n')
	if err != nil || line[0] != '$' {
		return line, err
	}
	length, err := strconv.Atoi(string(bytes.TrimSpace(line[1:])))
	if err != nil || length < 0 {
		return line, err // there is no string
	}
	text := make([]byte, length+len("\r\n"))
	if _, err := io.ReadFull(answers, text); err != nil {
		return nil, err
	}
	text = a.translate(text[:length])
	return fmt.Appendf(nil, "$%d\r\n%s\r\n", len(text), text), nil
}

// named are what can be a host or a port, and nothing within longer words.
var named = regexp.MustCompile(`\b(\d+\.\d+\.\d+\.\d+|\d+)\b`)

func (a *announcer) translate(text []byte) []byte {
	return named.ReplaceAllFunc(text, func(word []byte) []byte {
		if instead, ok := a.names[string(word)]; ok {
			return []byte(instead)
		}
		return word
	})
}

func (a *announcer) cut() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, conn := range a.conns {
		_ = conn.Close()
	}
}
