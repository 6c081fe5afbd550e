//go:build linux

package network

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/nftables"
	"github.com/vishvananda/netlink"
)

// soon is for how long nothing may come that must not come, and late within which everything else has to.
const (
	soon = 300 * time.Millisecond
	late = 30 * time.Second
)

func start(t *testing.T) *Network {
	t.Helper()
	n, err := New()
	if errors.Is(err, fs.ErrPermission) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n
}

// echo is a server that repeats each line, and counts those that it got.
type echo struct {
	net.Listener
	lines atomic.Int64
	conns chan net.Conn // as they are made
}

func startEcho(t *testing.T, listener net.Listener, err error) *echo {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	e := &echo{Listener: listener, conns: make(chan net.Conn, 8)}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			e.conns <- conn
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

// client is a connection of the candidate.
type client struct {
	net.Conn
	answers *bufio.Reader
}

func (n *Network) dial(addr string, within time.Duration) (c *client, err error) {
	err = n.near.within(func() error {
		conn, err := net.DialTimeout("tcp", addr, within)
		if err == nil {
			c = &client{conn, bufio.NewReader(conn)}
		}
		return err
	})
	return c, err
}

func dial(t *testing.T, n *Network, e *echo) *client {
	t.Helper()
	c, err := n.dial(e.Addr().String(), late)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// hear waits for a line.
func (c *client) hear(want string, within time.Duration) error {
	_ = c.SetReadDeadline(time.Now().Add(within))
	got, err := c.answers.ReadString('\n')
	if err == nil && got != want+"\n" {
		err = fmt.Errorf("%q was answered, not %q", got, want)
	}
	return err
}

func (c *client) say(t *testing.T, line string) {
	t.Helper()
	if _, err := fmt.Fprintln(c, line); err != nil {
		t.Fatal(err)
	}
}

func (c *client) ask(t *testing.T, line string) {
	t.Helper()
	c.say(t, line)
	if err := c.hear(line, late); err != nil {
		t.Fatal(err)
	}
}

func timedOut(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}

func TestWhoLivesInANetworkReachesItsProxiesAlone(t *testing.T) {
	n := start(t)
	proxies, near := listening(t, n.Listen), listening(t, n.ListenNear)
	system := listening(t, (*Network)(nil).Listen)
	dial(t, n, proxies).ask(t, "hello")
	dial(t, n, near).ask(t, "hello")
	if _, err := n.dial(system.Addr().String(), late); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("the system's own network is reached: %v", err)
	}
	if _, err := n.dial("192.0.2.1:80", late); !errors.Is(err, syscall.ENETUNREACH) {
		t.Errorf("there is a way out: %v", err)
	}
}

func listening(t *testing.T, listen func() (net.Listener, error)) *echo {
	t.Helper()
	listener, err := listen()
	return startEcho(t, listener, err)
}

func TestProcessesLiveInTheNetwork(t *testing.T) {
	n := start(t)
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result)
	n.Go(func(err error) {
		if err != nil {
			done <- result{nil, err}
			return
		}
		text, err := exec.Command("cat", "/proc/self/net/dev").Output()
		done <- result{text, err}
	})
	got := <-done
	var links []string
	for line := range strings.Lines(string(got.text)) {
		if name, _, ok := strings.Cut(line, ":"); ok {
			links = append(links, strings.TrimSpace(name))
		}
	}
	slices.Sort(links)
	if got.err != nil || !slices.Equal(links, []string{cable, "lo"}) {
		t.Errorf("a process in the network has the links %q, %v", links, got.err)
	}
}

func TestDroppedPacketsAreMissed(t *testing.T) {
	for _, d := range Directions() {
		t.Run(string(d), func(t *testing.T) {
			n := start(t)
			e, near := listening(t, n.Listen), listening(t, n.ListenNear)
			c, beside := dial(t, n, e), dial(t, n, near)
			c.ask(t, "before")
			outage, err := n.Drop(d)
			if err != nil {
				t.Fatal(err)
			}
			c.say(t, "meanwhile")
			if err := c.hear("meanwhile", soon); !timedOut(err) {
				t.Errorf("what was asked meanwhile was answered: %v", err)
			}
			if d == ToStore {
				fmt.Fprintln(<-e.conns, "pushed")
				if err := c.hear("pushed", late); err != nil {
					t.Errorf("what comes the other way: %v", err)
				}
			}
			if got, want := e.lines.Load(), arrivals(d); got != want {
				t.Errorf("%d lines have arrived, want %d", got, want)
			}
			if _, err := n.dial(e.Addr().String(), soon); !timedOut(err) {
				t.Errorf("a new connection: %v", err)
			}
			beside.ask(t, "beside")
			packets, err := outage.Heal()
			if err != nil || packets == 0 {
				t.Errorf("%d packets vanished, %v", packets, err)
			}
			if err := c.hear("meanwhile", late); err != nil {
				t.Errorf("what was sent meanwhile is not answered later: %v", err)
			}
			dial(t, n, e).ask(t, "again")
		})
	}
}

// arrivals is how many lines a server gets, of one before an outage and one in it.
func arrivals(d Direction) int64 {
	if d == FromStore {
		return 2
	}
	return 1
}

func TestUnpluggedIsToldAtOnce(t *testing.T) {
	n := start(t)
	e, near := listening(t, n.Listen), listening(t, n.ListenNear)
	c, beside := dial(t, n, e), dial(t, n, near)
	c.ask(t, "before")
	outage, err := n.Unplug()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.dial(e.Addr().String(), late); !errors.Is(err, syscall.ENETUNREACH) {
		t.Errorf("a new connection: %v", err)
	}
	c.say(t, "meanwhile")
	if err := c.hear("meanwhile", soon); err == nil {
		t.Error("what was asked meanwhile was answered")
	}
	beside.ask(t, "beside")
	if err := outage.PlugIn(); err != nil {
		t.Error(err)
	}
	if err := c.hear("meanwhile", late); err != nil {
		t.Errorf("what was sent meanwhile is not answered later: %v", err)
	}
	dial(t, n, e).ask(t, "again")
}

func TestOutageInWhichNothingIsSent(t *testing.T) {
	for _, d := range Directions() {
		outage, err := start(t).Drop(d)
		if err != nil {
			t.Fatal(err)
		}
		if packets, err := outage.Heal(); err != nil || packets == 0 {
			t.Errorf("%s: %d packets vanished, %v", d, packets, err)
		}
	}
}

func TestOutageWithoutEffectIsAnError(t *testing.T) {
	n := start(t)
	e := listening(t, n.Listen)
	dropped, err := n.Drop(Both)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(n.near.heal(), n.far.heal()); err != nil {
		t.Fatal(err)
	}
	dial(t, n, e).ask(t, "hello")
	if err := dropped.passed(); err == nil {
		t.Error("packets arrived, and it is not told")
	}
	unplugged, err := n.Unplug()
	if err != nil {
		t.Fatal(err)
	}
	if err := n.near.set((*netlink.Handle).LinkSetUp); err != nil {
		t.Fatal(err)
	}
	if err := unplugged.PlugIn(); err == nil {
		t.Error("there was a way, and it is not told")
	}
}

// A route that went with the link and does not come back is told.
func TestWayThatDoesNotComeBackIsAnError(t *testing.T) {
	n := start(t)
	outage, err := n.Unplug()
	if err != nil {
		t.Fatal(err)
	}
	link, err := n.near.links.LinkByName(cable)
	if err != nil {
		t.Fatal(err)
	}
	addrs, err := n.near.links.AddrList(link, netlink.FAMILY_V4)
	if err != nil || len(addrs) != 1 {
		t.Fatalf("the addresses are %v, %v", addrs, err)
	}
	if err := n.near.links.AddrDel(link, &addrs[0]); err != nil {
		t.Fatal(err)
	}
	if err := outage.PlugIn(); err == nil {
		t.Error("the way did not come back, and it is not told")
	}
}

// Nothing is made in the system's network, and nothing refers to the namespaces when the network is closed: they are
// gone then.
func TestNothingIsLeftBehind(t *testing.T) {
	first := start(t)
	defer first.Close()
	links, tables := systemNetwork(t)
	n := start(t)
	outage, err := n.Drop(Both)
	if err != nil {
		t.Fatal(err)
	}
	if during, rules := systemNetwork(t); !slices.Equal(during, links) || rules != tables {
		t.Errorf("the system had the links %q and %d tables, and has %q and %d", links, tables, during, rules)
	}
	if _, err := outage.Heal(); err != nil {
		t.Fatal(err)
	}
	inodes := []string{inode(t, n.near), inode(t, n.far)}
	if held := holders(inodes); len(held) == 0 {
		t.Error("what holds a namespace is not found")
	}
	n.Close()
	var held []string
	for end := time.Now().Add(late); time.Now().Before(end); time.Sleep(time.Millisecond) { // threads take a moment
		if held = holders(inodes); len(held) == 0 {
			return
		}
	}
	t.Errorf("the namespaces are still held by %q", held)
}

func systemNetwork(t *testing.T) (links []string, tables int) {
	t.Helper()
	all, err := netlink.LinkList()
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range all {
		links = append(links, link.Attrs().Name)
	}
	rules, err := (&nftables.Conn{}).ListTables()
	if err != nil {
		t.Fatal(err)
	}
	return links, len(rules)
}

func inode(t *testing.T, e *end) string {
	t.Helper()
	name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", e.space))
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// holders are the files and threads of this process that refer to namespaces.
func holders(inodes []string) (held []string) {
	for _, pattern := range []string{"/proc/self/fd/*", "/proc/self/task/*/ns/net"} {
		paths, _ := filepath.Glob(pattern)
		for _, path := range paths {
			if name, err := os.Readlink(path); err == nil && slices.Contains(inodes, name) {
				held = append(held, path)
			}
		}
	}
	return held
}
