package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

func TestResign(t *testing.T) {
	p := newPlace(t)
	p.lead(t, "x", "node-a")
	p.stand(t, "x", "node-b")
	if o := call(t, p.flag, "resign", "x", "--wait", "--timeout", "30s"); o.stderr != "node-a (token 1) has resigned\n" {
		t.Errorf("got %+v", o)
	}
	if got, want := must(t, p.flag, "wait", "x"), "node-b leads x (token 2)\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestResignNamesWhoAsks: the request is in the record as long as the leader has not followed it.
func TestResignNamesWhoAsks(t *testing.T) {
	p := newPlace(t)
	leader := tenure.Record{Token: 7, Leader: "node-a", Session: "s", TTL: testTTL}
	if _, err := p.store.CompareAndSwap(t.Context(), "x", "", leader); err != nil {
		t.Fatal(err)
	}
	must(t, p.flag, "resign", "x", "--id", "ann")
	if r := p.load(t, "x").Request; r == nil || r.By != "ann" || r.Token != 7 || r.To != "" {
		t.Errorf("got the request %+v", r)
	}
	if got := must(t, p.flag, "status", "x"); !strings.Contains(got, "asked to resign by ann") {
		t.Errorf("got %s", got)
	}
	o := call(t, p.flag, "resign", "x", "--wait", "--timeout", "50ms")
	if want := `"x" did not get rid of node-a within 50ms`; o.code != codeTimeout || !strings.Contains(o.stderr, want) {
		t.Errorf("got %+v, want %q", o, want)
	}
}

func TestTransfer(t *testing.T) {
	p := newPlace(t)
	p.lead(t, "x", "node-a")
	p.stand(t, "x", "node-b")
	p.stand(t, "x", "node-c")
	if o := call(t, p.flag, "transfer", "x", "--to", "node-a"); o.stderr != "node-a leads already (token 1)\n" {
		t.Errorf("got %+v", o)
	}
	o := call(t, p.flag, "transfer", "x", "--to", "node-c", "--wait", "--timeout", "30s")
	if o.code != 0 || o.stderr != "node-c leads (token 2)\n" {
		t.Errorf("got %+v", o)
	}
}

func TestTransferToNobody(t *testing.T) {
	p := newPlace(t)
	const short = time.Second // it is how long the seat is kept
	p.lead(t, "x", "node-a", tenure.WithTTL(short))
	p.stand(t, "x", "node-b", tenure.WithTTL(short))
	o := call(t, p.flag, "transfer", "x", "--to", "nobody", "--wait", "--timeout", "30s")
	if o.code != codeRefused || !strings.Contains(o.stderr, `"nobody" did not take it`) {
		t.Errorf("got %+v", o)
	}
}

func TestPauseAndResume(t *testing.T) {
	p := newPlace(t)
	p.lead(t, "x", "node-a")
	o := call(t, p.flag, "pause", "x", "--reason", "upgrade", "--wait", "--timeout", "30s", "--id", "ann")
	if o.code != 0 || o.stderr != "paused x: nobody leads\n" {
		t.Errorf("got %+v", o)
	}
	if got := must(t, p.flag, "status"); !strings.Contains(got, "paused by ann: upgrade") {
		t.Errorf("got %s", got)
	}
	if o := call(t, p.flag, "resume", "x"); o.stderr != "resumed x\n" {
		t.Errorf("got %+v", o)
	}
	must(t, p.flag, "wait", "x", "--timeout", "30s")
	if o := call(t, p.flag, "resume", "x"); o.stderr != "x was not paused\n" {
		t.Errorf("got %+v", o)
	}
}

func TestForget(t *testing.T) {
	p := newPlace(t)
	c := p.lead(t, "x", "node-a", tenure.WithTTL(time.Second)) // forgetting takes as long
	if o := call(t, p.flag, "forget", "x", "--yes"); o.code != codeRefused || !strings.Contains(o.stderr, "is in use") {
		t.Errorf("got %+v while somebody leads", o)
	}
	if err := c.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkRefusal(t, call(t, p.flag, "forget", "x"), codeFailed, "give --yes")
	if p.load(t, "x").Forgotten {
		t.Error("forgotten although nobody said yes")
	}
	token := p.load(t, "x").Token
	if o := call(t, p.flag, "forget", "x", "--yes"); o.stderr != fmt.Sprintf("forgot x; its token stays %d\n", token) {
		t.Errorf("got %+v", o)
	}
	if r := p.load(t, "x"); !r.Forgotten || r.Token != token || token == 0 {
		t.Errorf("got %+v", r)
	}
}

func TestQuietSaysNothing(t *testing.T) {
	p := newPlace(t)
	for _, args := range [][]string{{"pause", "x"}, {"resume", "x"}, {"wait", "x", "--vacant"}, {"forget", "x", "--yes"}} {
		if o := call(t, append([]string{p.flag, "-q"}, args...)...); o != (outcome{}) {
			t.Errorf("%q: got %+v", args, o)
		}
	}
}

// TestWatch follows an election through all that operators do to it.
func TestWatch(t *testing.T) {
	p := newPlace(t)
	next := p.watch(t, "x")
	expect := func(kind, reason string) {
		t.Helper()
		if c := next(); c.Change != kind || c.Reason != reason || c.Election != "x" || c.At.IsZero() {
			t.Errorf("got %+v, want %q because %q", c, kind, reason)
		}
	}
	expect("first", "at the beginning of the watch")
	p.stand(t, "x", "node-a")
	expect("elected", "the election is new")
	must(t, p.flag, "pause", "x", "--id", "ann", "--reason", "upgrade", "--wait")
	// Two changes in quick succession may be seen as one.
	if c := next(); c.Change == "paused" {
		if c.Reason != "paused by ann: upgrade" {
			t.Errorf("got %+v", c)
		}
		expect("released", "the leader gave the seat back")
	} else if c.Change != "released" || c.State != statePaused {
		t.Errorf("got %+v", c)
	}
	must(t, p.flag, "resume", "x")
	if c := next(); c.Change == "resumed" {
		expect("elected", "the seat was vacant")
	}
}

// watch starts to watch an election and returns the changes one by one.
func (p place) watch(t *testing.T, election string) (next func() change) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	lines, stdout := io.Pipe()
	ended := make(chan int)
	go func() {
		ended <- exitCode(exec(ctx, []string{p.flag, "watch", election, "--json"}, strings.NewReader(""), stdout, io.Discard))
	}()
	decoder := json.NewDecoder(lines)
	t.Cleanup(func() {
		cancel()
		_ = lines.Close()
		<-ended
	})
	return func() (c change) {
		t.Helper()
		if err := decoder.Decode(&c); err != nil {
			t.Fatal(err)
		}
		return c
	}
}

func TestWatchEndsWithAStoreThatFailsForGood(t *testing.T) {
	o := call(t, "--store=file:/dev/null/x", "watch", "x")
	if o.code != codeStore {
		t.Errorf("got %+v", o)
	}
}

// careless is a store whose compare-and-swap compares nothing.
type careless struct{ *memory.Store }

func (c careless) CompareAndSwap(
	ctx context.Context, election string, _ tenure.Version, r tenure.Record,
) (tenure.Snapshot, error) {
	now, err := c.Load(ctx, election)
	if err != nil {
		return now, err
	}
	return c.Store.CompareAndSwap(ctx, election, now.Version, r)
}

func TestDoctorFindsACarelessStore(t *testing.T) {
	offer(t, scheme{names: []string{"careless"}, solo: true, open: func(context.Context, string, opening) (tenure.Store, func() error, error) {
		return careless{memory.New()}, func() error { return nil }, nil
	}})
	o := call(t, "--store=careless:", "doctor")
	if o.code != codeStore || !strings.Contains(o.stderr, "elections in this store are not safe: a record was made over one") {
		t.Errorf("got %+v", o)
	}
}

// offer adds a scheme for the rest of the test.
func offer(t *testing.T, s scheme) {
	t.Helper()
	before := schemes
	t.Cleanup(func() { schemes = before })
	schemes = append(slices.Clone(schemes), s)
}

func TestDoctor(t *testing.T) {
	p := newPlace(t)
	d := decode[struct {
		Checks []struct{ Check, Result string }
		Grade  string
		Swap   struct{ Samples int } `json:"compare_and_swap"`
		TTL    float64               `json:"recommended_ttl_seconds"`
	}](t, must(t, p.flag, "doctor", "--json", "--samples", "7"))
	var checks []string
	for _, c := range d.Checks {
		checks = append(checks, c.Check)
		if c.Result == "failed" {
			t.Errorf("%s failed", c.Check)
		}
	}
	for _, want := range []string{"create", "swap", "stale-swap", "version", "shared", "race", "watch", "grade"} {
		if !slices.Contains(checks, want) {
			t.Errorf("%s was not checked", want)
		}
	}
	if d.Swap.Samples != 7 || d.TTL < 2 || d.Grade == "" {
		t.Errorf("got %+v", d)
	}
	if got := must(t, p.flag, "list"); got != "" {
		t.Errorf("it left %q behind", got)
	}
	text := must(t, "--store=memory:", "doctor", "--samples", "3")
	if !strings.Contains(text, "no other process ever sees this store") || !strings.Contains(text, "Recommended TTL: ") {
		t.Errorf("got %s", text)
	}
}
