package main

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// manager listens as the service manager does, and returns the name of its socket.
func manager(t *testing.T) (*net.UnixConn, string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return conn, name
}

// hear returns the next message.
func hear(t *testing.T, conn *net.UnixConn) string {
	t.Helper()
	message := make([]byte, 1<<10)
	n, err := conn.Read(message)
	if err != nil {
		t.Fatalf("nothing was heard: %v", err)
	}
	return string(message[:n])
}

// hearBesides returns the next message that is no sign of life, and how many of those came before.
func hearBesides(t *testing.T, conn *net.UnixConn) (message string, signs int) {
	t.Helper()
	for message = hear(t, conn); message == "WATCHDOG=1"; message = hear(t, conn) {
		signs++
	}
	return message, signs
}

// TestServeTellsItsManager that it serves, once it does; that it lives; and that it stops, before it has.
func TestServeTellsItsManager(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	conn, name := manager(t)
	socket := filepath.Join(t.TempDir(), "s")
	n := a.startAs("NOTIFY_SOCKET="+name+" WATCHDOG_USEC=30000", "serve", "--election", "x", "--listen", "unix:"+socket)
	if message, signs := hearBesides(t, conn); message != "READY=1" || signs != 0 {
		t.Fatalf("got %q after %d signs of life", message, signs)
	}
	if conn, err := net.Dial("unix", socket); err != nil {
		t.Errorf("it said that it serves: %v", err)
	} else {
		conn.Close()
	}
	for range 3 {
		if message := hear(t, conn); message != "WATCHDOG=1" {
			t.Errorf("got %q", message)
		}
	}
	n.signal(syscall.SIGTERM)
	message, _ := hearBesides(t, conn)
	if status := n.wait(); message != "STOPPING=1" || status != 0 {
		t.Errorf("got %q and status %d", message, status)
	}
	checkSilence(t, conn)
}

// checkSilence checks that nothing but signs of life is left to be heard.
func checkSilence(t *testing.T, conn *net.UnixConn) {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	message := make([]byte, 1<<10)
	for {
		n, err := conn.Read(message)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
		if got := string(message[:n]); err != nil || got != "WATCHDOG=1" {
			t.Fatalf("got %q and %v", got, err)
		}
	}
}

// TestServeWithoutWatchdog gives no signs of life: those of another process are not its own.
func TestServeWithoutWatchdog(t *testing.T) {
	t.Parallel()
	for _, variables := range []string{"", " WATCHDOG_USEC=1000 WATCHDOG_PID=1"} {
		a := newArena(t)
		conn, name := manager(t)
		n := a.startAs("NOTIFY_SOCKET="+name+variables, "serve", "--election", "x", "--listen", "127.0.0.1:0")
		if message := hear(t, conn); message != "READY=1" {
			t.Errorf("got %q", message)
		}
		n.awaitText("msg=elected") // some time has passed
		n.signal(syscall.SIGTERM)
		if message, signs := hearBesides(t, conn); message != "STOPPING=1" || signs != 0 {
			t.Errorf("with%q: got %q after %d signs of life", variables, message, signs)
		}
		n.wait()
	}
}

// TestServeEndsUnderManagerThatStopsReading, whose socket is full.
func TestServeEndsUnderManagerThatStopsReading(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	conn, name := manager(t)
	n := a.startAs("NOTIFY_SOCKET="+name, "serve", "--election", "x", "--listen", "127.0.0.1:0")
	if message := hear(t, conn); message != "READY=1" {
		t.Errorf("got %q", message)
	}
	fill(t, name)
	n.signal(syscall.SIGTERM)
	if status := n.wait(); status != 0 {
		t.Errorf("status %d", status)
	}
}

// fill sends messages until the socket has no room for another.
func fill(t *testing.T, name string) {
	t.Helper()
	raw, err := speak(t, name).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var full error
	err = raw.Write(func(fd uintptr) bool {
		for full == nil {
			_, full = syscall.Write(int(fd), []byte("X=1"))
		}
		return true
	})
	if err != nil || !errors.Is(full, syscall.EAGAIN) {
		t.Fatalf("%v, %v", err, full)
	}
}

// speak connects to the socket of a manager.
func speak(t *testing.T, name string) *net.UnixConn {
	t.Helper()
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// TestManagerHearsOfAnEndAtOnce: also of one that is over when there is time to tell of it.
func TestManagerHearsOfAnEndAtOnce(t *testing.T) {
	t.Parallel()
	over, end := context.WithCancel(t.Context())
	end()
	for range 20 { // what is looked at first is a matter of luck
		conn, name := manager(t)
		m := &serviceManager{conn: speak(t, name)}
		m.attend(over, over)
		for _, want := range []string{"READY=1", "STOPPING=1"} {
			if message := hear(t, conn); message != want {
				t.Fatalf("got %q, want %q", message, want)
			}
		}
	}
}

// TestServeWithDeafManager serves all the same.
func TestServeWithDeafManager(t *testing.T) {
	t.Parallel()
	for _, variables := range []string{"NOTIFY_SOCKET=/nonexistent/notify", "NOTIFY_SOCKET=/dev/null WATCHDOG_USEC=often"} {
		a := newArena(t)
		n := a.startAs(variables, "serve", "--election", "x", "--listen", "127.0.0.1:0")
		n.awaitText("the service manager cannot be told")
		n.signal(syscall.SIGTERM)
		if status := n.wait(); status != 0 || !strings.Contains(n.stderr.String(), "msg=serving") {
			t.Errorf("status %d", status)
		}
	}
}
