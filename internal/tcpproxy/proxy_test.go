package tcpproxy

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tenure-go/tenure/internal/storetest"
)

// echo is a server that repeats each line, and counts the lines that it got.
type echo struct {
	net.Listener
	lines atomic.Int64
}

func startEcho(t *testing.T) *echo {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	e := &echo{Listener: listener}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go e.serve(conn)
		}
	}()
	return e
}

func (e *echo) serve(conn net.Conn) {
	defer conn.Close()
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		e.lines.Add(1)
		fmt.Fprintln(conn, lines.Text())
	}
}

func start(t *testing.T) (*Proxy, *echo) {
	t.Helper()
	e := startEcho(t)
	p, err := Listen(e.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p, e
}

func dial(t *testing.T, p *Proxy) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// ask sends a line and reads its echo.
func ask(conn net.Conn, line string) error {
	if _, err := fmt.Fprintln(conn, line); err != nil {
		return err
	}
	answer := make([]byte, len(line)+1)
	if _, err := io.ReadFull(conn, answer); err != nil {
		return err
	}
	if got := string(answer); got != line+"\n" {
		return fmt.Errorf("the echo of %q is %q", line, got)
	}
	return nil
}

func mustAsk(t *testing.T, conn net.Conn, line string) {
	t.Helper()
	if err := ask(conn, line); err != nil {
		t.Fatal(err)
	}
}

// silent checks that nothing arrives for a moment: nothing tells that bytes are held.
func silent(t *testing.T, conn net.Conn) {
	t.Helper()
	conn.SetReadDeadline(time.Now().Add(30 * time.Millisecond))
	defer conn.SetReadDeadline(time.Time{})
	if n, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("read %d bytes, %v; want silence", n, err)
	}
}

func TestForwards(t *testing.T) {
	p, _ := start(t)
	conn := dial(t, p)
	mustAsk(t, conn, "hello")
	requests, replies := p.Carried()
	if requests != 6 || replies != 6 {
		t.Errorf("carried %d and %d bytes, want 6 and 6", requests, replies)
	}
	if n := p.Connections(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

func TestCutResetsAndNewConnectionsWork(t *testing.T) {
	p, _ := start(t)
	conn := dial(t, p)
	mustAsk(t, conn, "before")
	p.Cut()
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the cut connection reads %v, want a reset", err)
	}
	mustAsk(t, dial(t, p), "after")
}

func TestRefuseResetsNewConnectionsOnly(t *testing.T) {
	p, _ := start(t)
	old := dial(t, p)
	mustAsk(t, old, "before")
	p.Refuse(true)
	conn, err := net.Dial("tcp", p.Addr())
	if err == nil { // else the reset was faster
		defer conn.Close()
		err = ask(conn, "refused")
	}
	if !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.EPIPE) {
		t.Errorf("a new connection ends with %v, want a reset", err)
	}
	mustAsk(t, old, "still")
	p.Refuse(false)
	mustAsk(t, dial(t, p), "again")
}

func TestHoldRequestsKeepsThemFromTheServer(t *testing.T) {
	p, e := start(t)
	conn := dial(t, p)
	mustAsk(t, conn, "one")
	p.HoldRequests()
	fmt.Fprintln(conn, "two")
	silent(t, conn)
	if got := e.lines.Load(); got != 1 {
		t.Fatalf("the server got %d lines, want 1", got)
	}
	p.Release()
	if answer, err := bufio.NewReader(conn).ReadString('\n'); answer != "two\n" {
		t.Fatalf("after the release: %q, %v", answer, err)
	}
}

func TestHoldRepliesLetsTheServerAct(t *testing.T) {
	p, e := start(t)
	conn := dial(t, p)
	p.HoldReplies()
	fmt.Fprintln(conn, "one")
	storetest.Eventually(t, "the server gets the line", func() bool { return e.lines.Load() == 1 })
	silent(t, conn)
	p.Release()
	if answer, err := bufio.NewReader(conn).ReadString('\n'); answer != "one\n" {
		t.Fatalf("after the release: %q, %v", answer, err)
	}
}

func TestHoldAppliesToNewConnections(t *testing.T) {
	p, _ := start(t)
	p.Hold()
	conn := dial(t, p)
	fmt.Fprintln(conn, "one")
	storetest.Eventually(t, "the connection is accepted", func() bool { return p.Connections() == 1 }) // else Cut does not find it
	silent(t, conn)
	p.Cut()
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("a held connection outlives a cut")
	}
}

func TestHoldHidesTheEndOfAConnection(t *testing.T) {
	p, _ := start(t)
	conn := dial(t, p)
	mustAsk(t, conn, "one")
	p.Hold()
	conn.Close()
	time.Sleep(20 * time.Millisecond) // nothing tells that the end is held
	if n := p.Connections(); n != 1 {
		t.Fatalf("%d connections, want the one whose end is held", n)
	}
	p.Release()
	storetest.Eventually(t, "the connection ends after the release", func() bool { return p.Connections() == 0 })
}

func TestLoseReplyResetsAfterTheServerHasActed(t *testing.T) {
	p, e := start(t)
	conn := dial(t, p)
	lost := p.LoseReply(func(request []byte) bool { return bytes.Contains(request, []byte("write")) })
	mustAsk(t, conn, "read")
	if err := ask(conn, "write"); err == nil {
		t.Fatal("the reply arrived")
	}
	<-lost
	if got := e.lines.Load(); got != 2 {
		t.Errorf("the server got %d lines, want 2", got)
	}
	mustAsk(t, dial(t, p), "write")
}

func TestDelayDelaysBothDirections(t *testing.T) {
	p, _ := start(t)
	conn := dial(t, p)
	const d = 20 * time.Millisecond
	p.Delay(d)
	began := time.Now()
	mustAsk(t, conn, "slow")
	if took := time.Since(began); took < 2*d {
		t.Errorf("took %v, want at least %v", took, 2*d)
	}
}

func TestSetUpstreamForwardsNewConnections(t *testing.T) {
	p, first := start(t)
	second := startEcho(t)
	mustAsk(t, dial(t, p), "one")
	p.SetUpstream(second.Addr().String())
	mustAsk(t, dial(t, p), "two")
	if first.lines.Load() != 1 || second.lines.Load() != 1 {
		t.Errorf("the servers got %d and %d lines, want 1 each", first.lines.Load(), second.lines.Load())
	}
}

func TestCloseEndsEverything(t *testing.T) {
	p, _ := start(t)
	conn := dial(t, p)
	mustAsk(t, conn, "one")
	p.Hold()
	fmt.Fprintln(conn, "held")
	p.Close()
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the connection outlives the proxy")
	}
	if _, err := net.Dial("tcp", p.Addr()); err == nil {
		t.Error("the proxy still listens")
	}
}
