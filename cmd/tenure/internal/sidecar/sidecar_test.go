package sidecar

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/output"
	"github.com/tenure-go/tenure/memory"
)

// patience is how long a test waits for what has to happen some time, on however slow a machine.
const patience = 60 * time.Second

// desk is a sidecar that is served for the length of a test.
type desk struct {
	t       *testing.T
	sidecar *Sidecar
	store   *memory.Store
	address net.Addr
	base    string
	client  *http.Client
	log     *output.Buffer
	end     func() error // ends Serve and returns its result
}

// newDesk serves two elections, "own" in which the sidecar stands and "open" to campaigns, with changes to the options.
func newDesk(t *testing.T, change func(*Options)) *desk {
	t.Helper()
	d := &desk{t: t, store: memory.New(), log: new(output.Buffer)}
	options := Options{
		Store: d.store, ID: "side", Describe: describe, Address: address(t, "127.0.0.1:0"),
		Logger: slog.New(slog.NewTextHandler(d.log, nil)),
		Elections: []Election{
			{Name: "own", TTL: 2 * time.Second, Drain: 200 * time.Millisecond, Address: "here:80"},
			{Name: "open", Campaign: true, TTL: 2 * time.Second, Drain: 200 * time.Millisecond},
		},
	}
	if change != nil {
		change(&options)
	}
	var err error
	if d.sidecar, err = New(options); err != nil {
		t.Fatal(err)
	}
	listener, err := options.Address.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d.serve(listener, options)
	return d
}

func (d *desk) serve(listener net.Listener, options Options) {
	d.address = listener.Addr()
	d.base = "http://" + d.address.String()
	transport := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 4}
	if options.Address.network == "unix" {
		d.base = "http://localhost"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", options.Address.address)
		}
	}
	d.client = &http.Client{Transport: transport}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.sidecar.Serve(ctx, listener) }()
	d.end = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	d.t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := d.end(); err != nil {
			d.t.Error(err)
		}
	})
}

func address(t *testing.T, text string) Address {
	t.Helper()
	a, err := ParseAddress(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func unixAddress(t *testing.T) Address {
	t.Helper()
	return address(t, "unix:"+filepath.Join(t.TempDir(), "s"))
}

func describe(_, now tenure.Change) (state, reason string) {
	switch {
	case !now.Exists:
		return "missing", "because"
	case now.Record.Vacant() && now.Record.Pause != nil:
		return "paused", "because"
	case now.Record.Vacant():
		return "vacant", "because"
	}
	return "held", "because"
}

// request makes a request of JSON; change may spoil it.
func (d *desk) request(method, path, body string, change func(*http.Request)) *http.Request {
	d.t.Helper()
	r, err := http.NewRequestWithContext(d.t.Context(), method, d.base+path, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	if method != http.MethodGet {
		r.Header.Set("Content-Type", "application/json")
	}
	if change != nil {
		change(r)
	}
	return r
}

// do returns the status and the text of an answer.
func (d *desk) do(r *http.Request) (int, string) {
	d.t.Helper()
	response, err := d.client.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func (d *desk) get(path string) (int, string) {
	d.t.Helper()
	return d.do(d.request(http.MethodGet, path, "", nil))
}

func (d *desk) post(path, body string) (int, string) {
	d.t.Helper()
	return d.do(d.request(http.MethodPost, path, body, nil))
}

// must is post for what has to succeed.
func (d *desk) must(path, body string) string {
	d.t.Helper()
	status, text := d.post(path, body)
	if status/100 != 2 {
		d.t.Fatalf("POST %s: %d %s", path, status, text)
	}
	return text
}

func (d *desk) show(name string) (v view) {
	d.t.Helper()
	status, text := d.get("/v1/elections/" + name)
	if status != http.StatusOK {
		d.t.Fatalf("%d %s", status, text)
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		d.t.Fatal(err)
	}
	return v
}

// await shows an election again and again until it is as it shall be.
func (d *desk) await(name, what string, fits func(view) bool) view {
	d.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		v := d.show(name)
		if fits(v) {
			return v
		}
		if time.Now().After(end) {
			d.t.Fatalf("%s is not: %s; it is %+v", name, what, v)
		}
	}
}

// awaitLine waits for a line of the log that has all the texts: what the store shows may be seen before it is logged.
func (d *desk) awaitLine(texts ...string) {
	d.t.Helper()
	for end := time.Now().Add(patience); !d.log.HasLine(texts...); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			d.t.Fatalf("no line of the log has all of %q:\n%s", texts, d.log)
		}
	}
}

func (d *desk) record(name string) tenure.Record {
	d.t.Helper()
	now, err := d.store.Load(d.t.Context(), name)
	if err != nil {
		d.t.Fatal(err)
	}
	return now.Record
}

// line is a client's end of a stream of JSON lines.
type line struct {
	d      *desk
	body   io.Closer
	events chan campaignEvent // closed with the stream
	first  campaignEvent
}

// campaign opens a campaign.
func (d *desk) campaign(body string) *line {
	d.t.Helper()
	l := d.stream(d.request(http.MethodPost, "/v1/elections/open/campaign", body, nil))
	l.first = l.await("standing")
	return l
}

// stream opens a stream of JSON lines.
func (d *desk) stream(r *http.Request) *line {
	d.t.Helper()
	response, err := d.client.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = response.Body.Close() })
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(response.Body)
		d.t.Fatalf("%s %s", response.Status, text)
	}
	l := &line{d: d, body: response.Body, events: make(chan campaignEvent, 1000)}
	go func() {
		defer close(l.events)
		for scanner := bufio.NewScanner(response.Body); scanner.Scan(); {
			var e campaignEvent
			if json.Unmarshal(scanner.Bytes(), &e) == nil {
				l.events <- e
			}
		}
	}()
	return l
}

// await returns the next event of a name; those before it are dropped.
func (l *line) await(name string) campaignEvent {
	l.d.t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case e, ok := <-l.events:
			if !ok {
				l.d.t.Fatalf("the stream ended without %q", name)
			}
			if e.Event == name {
				return e
			}
		case <-timeout:
			l.d.t.Fatalf("no event %q within %v", name, patience)
		}
	}
}

// rest returns the names of all events up to the end of the stream.
func (l *line) rest() (names []string) {
	l.d.t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case e, ok := <-l.events:
			if !ok {
				return names
			}
			names = append(names, e.Event)
		case <-timeout:
			l.d.t.Fatal("the stream goes on")
		}
	}
}
