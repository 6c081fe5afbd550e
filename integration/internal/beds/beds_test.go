//go:build linux

package beds

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strings"
	"testing"

	"github.com/tenure-go/tenure/integration/internal/network"
	"github.com/tenure-go/tenure/internal/testserver"
)

// A server that tells its clients where another is has them go there through that one's proxy, whatever network that
// is in.
func TestAnnouncedAddressesAreThoseOfProxies(t *testing.T) {
	t.Run("shared", func(t *testing.T) { announcing(t, nil) })
	t.Run("apart", func(t *testing.T) {
		n, err := network.New()
		if errors.Is(err, fs.ErrPermission) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(n.Close)
		announcing(t, n)
	})
}

func announcing(t *testing.T, n *network.Network) {
	target := answering(t, func() string { return "here" })
	_, number, _ := net.SplitHostPort(target)
	teller := answering(t, func() string { return announcement(t, target, number) })
	s := &Server{
		Addrs: []string{target, teller}, Announced: []string{teller},
		URL: func(addrs []string) string { return strings.Join(addrs, ",") },
	}
	target2, teller2, _ := strings.Cut(s.Line(t, n).URL, ",")
	if got := ask(t, n, target2); got != "here" {
		t.Errorf("the first server answers %q through its proxy", got)
	}
	if got, want := ask(t, n, teller2), announcement(t, target2, number); got != want {
		t.Errorf("announced is %q, want %q", got, want)
	}
}

// announcement is how Redis tells an address: in words of their own, and within longer ones. number is not a port there.
func announcement(t *testing.T, addr, number string) string {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	text := "*6\r\n+OK\r\n$-1\r\n:7\r\n"
	for _, word := range []string{host, port, fmt.Sprintf("moved to %s %s, id a%s", host, port, number)} {
		text += fmt.Sprintf("$%d\r\n%s\r\n", len(word), word)
	}
	return text
}

func answering(t *testing.T, answer func() string) string {
	t.Helper()
	listener, err := net.Listen("tcp", testserver.Addr(testserver.Port(t)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = bufio.NewReader(conn).ReadString('\n')
			_, _ = fmt.Fprint(conn, answer())
			_ = conn.Close()
		}
	}()
	return listener.Addr().String()
}

// ask asks from within a network.
func ask(t *testing.T, n *network.Network, addr string) string {
	t.Helper()
	type dialled struct {
		net.Conn
		err error
	}
	dialling := make(chan dialled)
	n.Go(func(err error) {
		var conn net.Conn
		if err == nil {
			conn, err = net.Dial("tcp", addr)
		}
		dialling <- dialled{conn, err}
	})
	conn := <-dialling
	if conn.err != nil {
		t.Fatal(conn.err)
	}
	defer conn.Close()
	fmt.Fprintln(conn, "where")
	text, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestServersOfAProgramEnd(t *testing.T) {
	var order []int
	err := WithServers(t.Output(), func(tb testserver.TB) error {
		tb.Cleanup(func() { order = append(order, 1) })
		tb.Cleanup(func() { order = append(order, 2); tb.Fatalf("too late") })
		tb.Fatalf("broken %d", 7)
		return nil
	})
	if err == nil || err.Error() != "broken 7" || len(order) != 2 || order[0] != 2 {
		t.Errorf("ended with %v, cleaned up in the order %v", err, order)
	}
	err = WithServers(t.Output(), func(tb testserver.TB) error { tb.Skipf("no %s", "server"); return nil })
	if !errors.Is(err, ErrSkipped) {
		t.Errorf("skipped with %v", err)
	}
}

func TestBedsHaveNamesOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, b := range All() {
		if found, err := Find(b.Name); err != nil || found.About != b.About || seen[b.Name] {
			t.Errorf("%q is found as %q, %v", b.Name, found.About, err)
		}
		seen[b.Name] = true
	}
	if _, err := Find("floppy"); err == nil {
		t.Error("a store that is not there was found")
	}
}
