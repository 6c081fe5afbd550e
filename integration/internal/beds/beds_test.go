//go:build linux

package beds

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/tenure-go/tenure/internal/testserver"
)

// A server that tells its clients where another is has them go there through that one's proxy.
func TestAnnouncedAddressesAreThoseOfProxies(t *testing.T) {
	target := answering(t, func() string { return "here" })
	teller := answering(t, func() string { return "$5\r\n" + port(target) })
	s := &Server{
		Addrs: []string{target, teller}, Announced: []string{teller},
		URL: func(addrs []string) string { return strings.Join(addrs, ",") },
	}
	l := s.Line(t)
	target2, teller2, _ := strings.Cut(l.URL, ",")
	if got := ask(t, target2); got != "here" {
		t.Errorf("the first server answers %q through its proxy", got)
	}
	if got, want := ask(t, teller2), "$5\r\n"+port(target2); got != want {
		t.Errorf("announced is %q, want %q", got, want)
	}
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

func ask(t *testing.T, addr string) string {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
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
