// Package sidecar_test runs the clients of the sidecar against it. What holds for one of them holds for all.
package sidecar_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure/examples/internal/exampletest"
	"github.com/tenure-go/tenure/examples/ledger"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testserver"
)

func TestMain(m *testing.M) { exampletest.Main(m) }

// language is one of the clients.
type language struct {
	name  string
	needs []string // programs
	start func(t *testing.T, p post) *testserver.Process
}

// post is where a client works.
type post struct{ url, id, ledger string }

var languages = []language{
	{"python", []string{"python3"}, func(t *testing.T, p post) *testserver.Process {
		clean := []string{"PYTHONDONTWRITEBYTECODE=1"} // or it leaves files beside the source
		return exampletest.Start(t, clean, testserver.Find(t, "python3"), absolute(t, "python/worker.py"),
			"--sidecar", p.url, "--id", p.id, "--ledger", p.ledger, "--every", "0.03")
	}},
	{"shell", []string{"bash", "curl"}, func(t *testing.T, p post) *testserver.Process {
		variables := append(shellVariables(p), "STEPS=1000000")
		return exampletest.Start(t, variables, testserver.Find(t, "bash"), absolute(t, "shell/nightly.sh"))
	}},
}

func shellVariables(p post) []string {
	return []string{
		"SIDECAR=" + p.url, "ELECTION=jobs", "ID=" + p.id, "LEDGER=" + p.ledger, "NIGHT=2026-03-01", "PAUSE=0.03",
	}
}

func absolute(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// forEach runs a test with each client.
func forEach(t *testing.T, test func(t *testing.T, l language)) {
	t.Helper()
	for _, l := range languages {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			for _, program := range l.needs {
				testserver.Find(t, program)
			}
			test(t, l)
		})
	}
}

// site is an election with sidecars, and the ledger of those who work.
type site struct {
	t      *testing.T
	store  string
	ledger string
	ttl    string
}

func newSite(t *testing.T, ttl string) site {
	t.Helper()
	return site{t, "file:" + t.TempDir(), filepath.Join(t.TempDir(), "ledger"), ttl}
}

// sidecar starts one more, and returns its URL. With flags it also serves other elections.
func (s site) sidecar(flags ...string) (p *testserver.Process, url string) {
	s.t.Helper()
	addr := testserver.Addr(testserver.Port(s.t))
	args := append([]string{"--store", s.store, "serve", "--listen", addr, "--campaign", "jobs", "--ttl", s.ttl}, flags...)
	p = exampletest.Start(s.t, nil, exampletest.Build(s.t, exampletest.Tenure), args...)
	url = "http://" + addr
	storetest.Eventually(s.t, "the sidecar serves", func() bool {
		resp, err := http.Get(url + "/healthz")
		if err == nil {
			resp.Body.Close()
		}
		return err == nil
	})
	return p, url
}

// lead starts a client, and waits until it works.
func (s site) lead(l language, url, id string, above uint64) (client *testserver.Process, token uint64) {
	s.t.Helper()
	client = l.start(s.t, post{url, id, s.ledger})
	return client, s.await(id, above)
}

// stand starts a client that will have to wait.
func (s site) stand(l language, url, id string) *testserver.Process {
	s.t.Helper()
	client := l.start(s.t, post{url, id, s.ledger})
	exampletest.AwaitLog(s.t, client, "standing by")
	return client
}

// await waits for work under a higher token, by the client that is expected to.
func (s site) await(id string, above uint64) (token uint64) {
	s.t.Helper()
	return exampletest.AwaitEntryBy(s.t, s.ledger, above, id).Token
}

func TestStoppedClientHandsOver(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, l language) {
		s := newSite(t, "10m") // for which nobody could wait, nor for the drain
		_, url := s.sidecar()
		first, token := s.lead(l, url, "a", 0)
		s.stand(l, url, "b")
		first.Stop()
		if !strings.Contains(first.Log(), "stopped, and the seat is given back") {
			t.Errorf("it ended in another way:\n%s", first.Log())
		}
		s.await("b", token)
	})
}

// TestKilledClientIsFollowed when the drain has passed, for its stream breaks. A killed script leaves curl behind, which
// holds the stream for it: then it is followed when the trust is over that it was told last.
func TestKilledClientIsFollowed(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, l language) {
		ttl := map[string]string{"python": "5m", "shell": "3s"}[l.name]
		s := newSite(t, ttl)
		_, url := s.sidecar("--drain", "200ms")
		first, token := s.lead(l, url, "a", 0)
		s.stand(l, url, "b")
		exampletest.KillAlone(t, first)
		s.await("b", token)
	})
}

// TestFrozenClientIsFollowed although it says nothing, and has to find out by itself when it wakes up.
func TestFrozenClientIsFollowed(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, l language) {
		s := newSite(t, "4s")
		_, url := s.sidecar()
		first, token := s.lead(l, url, "a", 0)
		second := s.stand(l, url, "b")
		first.Freeze()
		token = s.await("b", token)
		first.Thaw()
		exampletest.AwaitLog(t, first, "stopped working: ")
		exampletest.AwaitMore(t, s.ledger)
		second.Kill()
		s.await("a", token)
	})
}

// TestClientsFollowAFailOver from a sidecar that is killed to another one, and come back to the first when it is there.
func TestClientsFollowAFailOver(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, l language) {
		s := newSite(t, "3s")
		killed, url := s.sidecar()
		first, token := s.lead(l, url, "a", 0)
		other, otherURL := s.sidecar()
		s.stand(l, otherURL, "b")
		killed.Kill()
		exampletest.AwaitLog(t, first, "stopped working: ")
		token = s.await("b", token)
		killed.Start() // at the same address
		other.Kill()
		s.await("a", token)
	})
}

// TestFrozenSidecarIsFollowed: its client is told nothing, and stops all the same.
func TestFrozenSidecarIsFollowed(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, l language) {
		s := newSite(t, "2s")
		frozen, url := s.sidecar()
		first, token := s.lead(l, url, "a", 0)
		_, other := s.sidecar()
		s.stand(l, other, "b")
		frozen.Freeze()
		s.await("b", token)
		exampletest.AwaitLog(t, first, "stopped working: ")
	})
}

// stub is a sidecar that lets its client lead, once, and then says nothing more. It gives each question the same answer.
func stub(t *testing.T, token uint64, trust time.Duration) (url string) {
	t.Helper()
	var until int64
	served := make(chan struct{}, 1)
	served <- struct{}{}
	silent := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/campaign") {
			fmt.Fprintf(w, `{"event":"confirmed","token":%d,"leading":true,"trust_until_boottime_ms":%d}`+"\n", token, until)
			return
		}
		select {
		case <-served:
		default:
			http.Error(w, "not now", http.StatusServiceUnavailable)
			return
		}
		until = boottime(t) + trust.Milliseconds()
		fmt.Fprintf(w, `{"event":"standing","campaign":"ABC","token":0,"leading":false}`+"\n"+
			`{"event":"elected","token":%d,"leading":true,"trust_until_boottime_ms":%d}`+"\n", token, until)
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		select {
		case <-r.Context().Done():
		case <-silent:
		}
	}))
	t.Cleanup(func() {
		close(silent)
		server.Close()
	})
	return server.URL
}

// boottime is the clock of trust_until_boottime_ms.
func boottime(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/uptime")
	if err != nil {
		t.Fatal(err)
	}
	seconds, _, _ := strings.Cut(string(text), " ")
	uptime, err := time.ParseDuration(seconds + "s")
	if err != nil {
		t.Fatal(err)
	}
	return uptime.Milliseconds()
}

// TestClientStopsByTheClock although nobody says that it should.
func TestClientStopsByTheClock(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, l language) {
		s := newSite(t, "")
		client, _ := s.lead(l, stub(t, 7, 5*time.Second), "a", 0)
		exampletest.AwaitLog(t, client, "stopped working: its trust is over by the clock")
		before := len(exampletest.Entries(t, s.ledger))
		client.Stop()
		if after := len(exampletest.Entries(t, s.ledger)); after != before {
			t.Errorf("it went on working: %d entries, and then %d", before, after)
		}
	})
}

// TestLedgerRefusesAClient that is told that it leads, when the ledger knows better.
func TestLedgerRefusesAClient(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, l language) {
		s := newSite(t, "")
		newer, err := ledger.Open(s.ledger)
		if err == nil {
			err = newer.Append(ledger.Entry{Token: 8, By: "b", Text: "newer"})
		}
		if err != nil {
			t.Fatal(err)
		}
		client := l.start(t, post{stub(t, 7, time.Hour), "a", s.ledger})
		exampletest.AwaitLog(t, client, "stopped working: ")
		if got := exampletest.Entries(t, s.ledger); len(got) != 1 {
			t.Errorf("the ledger has taken %+v", got)
		}
	})
}

// TestNightIsDoneOnce on three hosts, though the first one dies in the middle.
func TestNightIsDoneOnce(t *testing.T) {
	t.Parallel()
	bash := testserver.Find(t, "bash")
	testserver.Find(t, "curl")
	s := newSite(t, "3s")
	_, url := s.sidecar("--drain", "200ms")
	const steps = 12
	hosts := map[string]*testserver.Process{}
	for _, id := range []string{"a", "b", "c"} {
		variables := append(shellVariables(post{url, id, s.ledger}), fmt.Sprint("STEPS=", steps), "PAUSE=0.1")
		hosts[id] = exampletest.Start(t, variables, bash, absolute(t, "shell/nightly.sh"))
	}
	first := exampletest.AwaitEntry(t, s.ledger, 0)
	exampletest.KillAlone(t, hosts[first.By])
	for id, host := range hosts {
		if id != first.By {
			exampletest.AwaitLog(t, host, "the night's work is done")
		}
	}
	for i, e := range exampletest.Entries(t, s.ledger) {
		if want := fmt.Sprintf("2026-03-01 step %d", i+1); e.Text != want || i >= steps {
			t.Errorf("entry %d is %+v, want %q", i, e, want)
		}
	}
}

// cronLine matches the lines for the system's cron in a document.
var cronLine = regexp.MustCompile(`(?m)^0 \* \* \* \*  (.*)$`)

// TestOneLineInCron says yes on one of two hosts, and on the other one after a fail-over.
func TestOneLineInCron(t *testing.T) {
	t.Parallel()
	testserver.Find(t, "curl")
	text, err := os.ReadFile("shell/README.md")
	if err != nil {
		t.Fatal(err)
	}
	match := cronLine.FindStringSubmatch(string(text))
	if match == nil {
		t.Fatal("the document has no such line")
	}
	s := newSite(t, "4s")
	leads := func(url string) bool {
		line := strings.ReplaceAll(match[1], "localhost:8732", strings.TrimPrefix(url, "http://"))
		line = strings.ReplaceAll(line, "/usr/local/bin/hourly.sh", "echo it leads")
		out, _ := exec.CommandContext(t.Context(), "sh", "-c", line).Output()
		return string(out) == "it leads\n"
	}
	first, url := s.sidecar("--election", "hourly", "--id", "a")
	storetest.Eventually(t, "the first leads", func() bool { return leads(url) })
	_, other := s.sidecar("--election", "hourly", "--id", "b")
	if leads(other) {
		t.Error("both lead")
	}
	first.Kill()
	storetest.Eventually(t, "the other one leads", func() bool { return leads(other) })
}
