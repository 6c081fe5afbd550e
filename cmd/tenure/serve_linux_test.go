package main

import (
	"bytes"
	"encoding/json"
	"net"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// serve starts a sidecar on a free port, or where the flags say, and returns it with its URL.
func (a *arena) serve(flags ...string) (n *node, url string) {
	a.t.Helper()
	n = a.start(append([]string{"serve", "--listen", "127.0.0.1:0"}, flags...)...)
	n.awaitText("msg=serving")
	listen := regexp.MustCompile(`listen=(\S+)`).FindStringSubmatch(n.stderr.String())[1]
	return n, "http://" + listen
}

// customer is a process of curl, or what it runs in.
type customer struct {
	*node
	t *testing.T
}

// campaign holds a campaign open with curl.
func (a *arena) campaign(url string, args ...string) customer {
	a.t.Helper()
	curl, err := osexec.LookPath("curl")
	if err != nil {
		a.t.Skip("there is no curl")
	}
	args = append([]string{"-sSN", "-X", "POST", "-H", "Content-Type: application/json"}, args...)
	return customer{a.launch("", curl, append(args, url+"/v1/elections/x/campaign")...), a.t}
}

// served is what the tests need of an event.
type served struct {
	Event   string `json:"event"`
	Cause   string `json:"cause"`
	Token   uint64 `json:"token"`
	Leading bool   `json:"leading"`
	Trust   int64  `json:"trust_ms"`
	Until   int64  `json:"trust_until_boottime_ms"`
}

// last returns the last event that the client has got, of those of a name if one is given.
func (c customer) last(name string) (found served, ok bool) {
	c.t.Helper()
	for line := range strings.Lines(c.stdout.String()) {
		var e served
		if !strings.HasSuffix(line, "\n") {
			break
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			c.t.Fatalf("%v in %s", err, line)
		}
		if name == "" || e.Event == name {
			found, ok = e, true
		}
	}
	return found, ok
}

func (c customer) await(name string) (e served) {
	c.t.Helper()
	c.a.eventually("a client is told "+name, func() (ok bool) {
		e, ok = c.last(name)
		return ok
	})
	return e
}

// curl asks a sidecar.
func (a *arena) curl(args ...string) string {
	a.t.Helper()
	out, err := osexec.CommandContext(a.t.Context(), "curl", append([]string{"-sS"}, args...)...).CombinedOutput()
	if err != nil {
		a.t.Fatalf("curl %q: %v: %s", args, err, out)
	}
	return string(out)
}

// boottime is the clock of trust_until_boottime_ms, as programs of other languages read it.
func boottime(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/uptime")
	if err != nil {
		t.Fatal(err)
	}
	seconds, _, _ := bytes.Cut(text, []byte(" "))
	uptime, err := time.ParseDuration(string(seconds) + "s")
	if err != nil {
		t.Fatal(err)
	}
	return uptime.Milliseconds()
}

// TestCurlFollowsAFailOver from a sidecar that is killed to another one, on the path of either kind of election.
func TestCurlFollowsAFailOver(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	first, url := a.serve("--election", "own", "--campaign", "x", "--id", "node-a", "--ttl", "4s")
	c := a.campaign(url)
	if e := c.await("elected"); e.Token != 1 || !e.Leading || e.Trust <= 0 || e.Trust > 3160 { // 0.99·4000 - 800
		t.Errorf("got %+v", e)
	}
	if e, now := c.await("renewed"), boottime(t); e.Until > now+4000 || e.Until < now-60_000 {
		t.Errorf("trusted until %d, and it is %d", e.Until, now)
	}
	_, other := a.serve("--election", "own", "--campaign", "x", "--id", "node-b", "--ttl", "4s")
	next := a.campaign(other)
	next.await("standing")
	leader := func(url string) string { return a.curl(url + "/leader?election=own") }
	a.eventually("the first leads", func() bool { return leader(other) == `{"name":"node-a"}`+"\n" })

	var own served
	if err := json.Unmarshal([]byte(a.curl(url+"/v1/elections/own")), &own); err != nil || !own.Leading {
		t.Errorf("got %+v and %v", own, err)
	}
	first.kill()
	a.eventually("the second leads", func() bool { return leader(other) == `{"name":"node-b"}`+"\n" })
	if now := boottime(t); now < own.Until {
		t.Errorf("the second leads at %d, but the program beside the first may act until %d", now, own.Until)
	}
	c.wait() // its stream is cut
	told, _ := c.last("")
	elected := next.await("elected")
	if elected.Token != 2 {
		t.Errorf("got %+v", elected)
	}
	if at := elected.Until - elected.Trust; at < told.Until {
		t.Errorf("the next client leads at %d, but the first may act until %d", at, told.Until)
	}
}

// TestServeEndsWithASignal: clients are told, and seats are free for others at once.
func TestServeEndsWithASignal(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	first, url := a.serve("--campaign", "x", "--ttl", "1m", "--drain", "15s")
	_, other := a.serve("--campaign", "x", "--ttl", "1m", "--drain", "15s")
	c := a.campaign(url)
	c.await("elected")
	next := a.campaign(other)
	next.await("standing")
	start := time.Now()
	first.signal(syscall.SIGTERM)
	if e := c.await("ended"); e.Cause != "stopped" || e.Leading || e.Trust != 0 {
		t.Errorf("got %+v", e)
	}
	c.kill() // it has stopped its work
	next.await("elected")
	if got, took := first.wait(), time.Since(start); got != 0 || took > 12*time.Second {
		t.Errorf("status %d after %v", got, took)
	}
}

// TestKilledClient: its process is dead, so the others wait for the drain and not for the lease.
func TestKilledClient(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	_, url := a.serve("--campaign", "x", "--ttl", "1m", "--drain", "200ms")
	c := a.campaign(url)
	c.await("elected")
	next := a.campaign(url)
	next.await("standing")
	start := time.Now()
	c.kill()
	next.await("elected")
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestFrozenClient loses its seat, but not before it can tell from the clock that it must not act.
func TestFrozenClient(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	socket := filepath.Join(a.t.TempDir(), "s")
	n := a.start("serve", "--listen", "unix:"+socket, "--campaign", "x", "--ttl", "4s", "--drain", "400ms")
	n.awaitText("msg=serving")
	if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("got %v and %v", info, err)
	}
	c := a.campaign("http://localhost", "--unix-socket", socket)
	c.await("renewed")
	next := a.campaign("http://localhost", "--unix-socket", socket)
	next.await("standing")
	freeze(t, c.cmd.Process.Pid)
	elected := next.await("elected")
	now := boottime(t)
	thaw(c.cmd.Process.Pid)
	c.wait() // it finds its stream ended
	told, _ := c.last("")
	if elected.Token != 2 || told.Until > now {
		t.Errorf("%+v was elected by %d, but the frozen client may act until %d", elected, now, told.Until)
	}
	n.awaitText("parting=silent")
}

// TestFrozenSidecar: its client is told nothing more, so it can tell from the clock that it must not act.
func TestFrozenSidecar(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	first, url := a.serve("--campaign", "x", "--ttl", "4s")
	c := a.campaign(url)
	c.await("renewed")
	_, other := a.serve("--campaign", "x", "--ttl", "4s")
	next := a.campaign(other)
	next.await("standing")
	freeze(t, first.cmd.Process.Pid)
	next.await("elected")
	now := boottime(t)
	if told, _ := c.last(""); told.Until > now {
		t.Errorf("another one leads at %d, but the first client may act until %d", now, told.Until)
	}
	thaw(first.cmd.Process.Pid)
	if e := c.await("ended"); e.Leading || e.Trust != 0 {
		t.Errorf("got %+v", e)
	}
}

// TestServeIsOneAtATime on one address.
func TestServeIsOneAtATime(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	o := call(t, a.flag, "-q", "serve", "--election", "x", "--listen", listener.Addr().String())
	checkRefusal(t, o, 125, "address already in use")
}
