package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/cmd/tenure/internal/ending"
	"github.com/tenure-go/tenure/memory"
)

func TestTable(t *testing.T) {
	table := table{head: []string{"A", "LONGER"}}
	table.add(cell{text: "ünï"}, cell{text: ""})
	table.add(cell{text: "x"}, cell{text: "evil\x1b[2J\n", color: red})
	var out strings.Builder
	if err := table.write(&out); err != nil {
		t.Fatal(err)
	}
	want := "A    LONGER\n" +
		"ünï  -\n" +
		"x    evil\ufffd[2J \n"
	if out.String() != want {
		t.Errorf("got\n%q, want\n%q", out.String(), want)
	}
}

func TestNote(t *testing.T) {
	now := time.Now()
	held := tenure.Record{Token: 7, Leader: "a", Session: "s", TTL: time.Second, RenewedAt: now}
	with := func(change func(*tenure.Record)) tenure.Record {
		r := held.Clone()
		change(&r)
		return r
	}
	for _, c := range []struct {
		change tenure.Change
		want   string
	}{
		{tenure.Change{Record: held}, "no such election"},
		{tenure.Change{Exists: true, Record: held}, ""},
		{tenure.Change{Exists: true, Record: held, Abandoned: true}, "abandoned: the leader's process is dead"},
		{tenure.Change{Exists: true, Record: held, Silent: true}, "silent: the leader was not heard of for its TTL"},
		{tenure.Change{Exists: true, Record: with(func(r *tenure.Record) {
			r.RenewedAt = now.Add(-2 * time.Second)
		})}, "last renewed longer than a TTL ago, if the clocks agree"},
		{tenure.Change{Exists: true, Record: with(func(r *tenure.Record) { r.Pause = &tenure.Pause{} })}, "paused"},
		{tenure.Change{Exists: true, Record: tenure.Record{Reserved: "b"}}, "kept for b"},
		{tenure.Change{Exists: true, Record: with(func(r *tenure.Record) {
			r.Request = &tenure.Request{Token: 7, To: "b", By: "ann"}
		})}, "asked to hand over to b by ann"},
		{tenure.Change{Exists: true, Record: with(func(r *tenure.Record) {
			r.Request = &tenure.Request{Token: 6}
		})}, ""}, // it addressed an earlier term
	} {
		if got := standingOf("x", c.change).note(now); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.change, got, c.want)
		}
	}
}

func TestReasonOfAnElection(t *testing.T) {
	led := tenure.Record{Leader: "a", Token: 1}
	for want, before := range map[string]tenure.Change{
		"the election is new":                         {},
		"the seat was vacant":                         {Exists: true},
		"the seat was kept for it":                    {Exists: true, Record: tenure.Record{Reserved: "b"}},
		"the seat was kept for c, which did not come": {Exists: true, Record: tenure.Record{Reserved: "c"}},
		"the process of a was dead":                   {Exists: true, Record: led, Abandoned: true},
		"a was silent for its TTL":                    {Exists: true, Record: led, Silent: true},
		"it followed a":                               {Exists: true, Record: led},
	} {
		now := tenure.Change{Kind: tenure.ChangeElected, Record: tenure.Record{Leader: "b", Token: 2}}
		if got := reason(before, now); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestEveryChangeHasAReason, so that none is added in the library and forgotten here.
func TestEveryChangeHasAReason(t *testing.T) {
	record := tenure.Record{Request: &tenure.Request{}, Pause: &tenure.Pause{}}
	for kind := tenure.ChangeFirst; !strings.HasPrefix(kind.String(), "change "); kind++ {
		if kind == tenure.ChangeRenewed || kind == tenure.ChangeRegained {
			continue // for observers that ask for renewals, as the watch does not
		}
		if reason(tenure.Change{}, tenure.Change{Kind: kind, Record: record}) == "" {
			t.Errorf("%v has none", kind)
		}
		if !strings.Contains(watchLong, kind.String()) {
			t.Errorf("%v is not in the help text", kind)
		}
	}
}

func TestAgo(t *testing.T) {
	now := time.Now()
	for d, want := range map[time.Duration]string{
		0: "0.0s ago", 1234 * time.Millisecond: "1.2s ago", 59 * time.Second: "59s ago", 61 * time.Second: "1m1s ago",
		25*time.Hour + time.Minute: "1d1h ago", 2 * time.Hour: "2h0m ago", -5 * time.Second: "in 5s",
	} {
		if got := ago(now, now.Add(-d)); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
	if got := ago(now, time.Time{}); got != "" {
		t.Errorf("got %q for no time", got)
	}
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
		text string
	}{
		{nil, 0, ""},
		{exitWith(7), 7, ""},
		{fmt.Errorf("wrapped: %w", exitWith(7)), 7, ""},
		{usagef("no"), 125, "tenure: no\n"},
		{errors.New("no"), 125, "tenure: no\n"},
		{ending.Signal(syscall.SIGTERM), 143, ""},
		{tenure.Permanent(errors.New("gone")), 123, "tenure: permanent failure of the store: gone\n"},
		{storeFailed(errors.New("gone")), 123, "tenure: gone\n"},
		{storeFailed(usagef("no")), 125, "tenure: no\n"},
		{storeFailed(tenure.ErrHeld), 120, "tenure: the election has a leader\n"},
		{
			storeFailed(context.DeadlineExceeded), 123,
			"tenure: the store did not answer in time, see --store-timeout: context deadline exceeded\n",
		},
		{fmt.Errorf("tenure: asking: %w", tenure.ErrNotLeader), 121, "tenure: asking: not the leader\n"},
		{errors.Join(errors.New("one"), errors.New("two")), 125, "tenure: one; two\n"},
	} {
		var out strings.Builder
		if code := conclude(&out, c.err); code != c.code || out.String() != c.text {
			t.Errorf("%v: got %d and %q, want %d and %q", c.err, code, out.String(), c.code, c.text)
		}
	}
}

// hanging is a store that never answers.
type hanging struct{ *memory.Store }

func (hanging) Load(ctx context.Context, _ string) (tenure.Snapshot, error) {
	<-ctx.Done()
	return tenure.Snapshot{}, ctx.Err()
}

// TestHangingStore: no command but those that wait for something hangs with it.
func TestHangingStore(t *testing.T) {
	offer(t, scheme{names: []string{"hang"}, open: hang})
	for _, args := range [][]string{
		{"status", "x"},
		{"resign", "x"},
		{"transfer", "x", "--to", "a"},
		{"pause", "x"},
		{"resume", "x"},
		{"forget", "x", "--yes"},
		{"doctor"},
	} {
		o := call(t, append([]string{"--store=hang:", "--store-timeout=20ms"}, args...)...)
		if o.code != codeStore || strings.Count(o.stderr, "\n") != 1 || !strings.Contains(o.stderr, "--store-timeout") {
			t.Errorf("%q: got %+v", args, o)
		}
	}
}

func TestSignalEndsAWait(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(10*time.Millisecond, func() { cancel(ending.Signal(syscall.SIGINT)) })
	for _, args := range [][]string{{"wait", "x"}, {"watch", "x"}} {
		if o := callWith(ctx, append([]string{"--store=memory:"}, args...)...); o.code != 130 || o.stderr != "" {
			t.Errorf("%q: got %+v", args, o)
		}
	}
}

func hang(context.Context, string, opening) (tenure.Store, func() error, error) {
	return hanging{memory.New()}, func() error { return nil }, nil
}
