package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/tenure-go/tenure"
)

func decode[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

func TestStatusOfALeader(t *testing.T) {
	p := newPlace(t)
	p.lead(t, "billing", "node-a", tenure.WithAddress("10.0.0.7:80"), tenure.WithMetadata(map[string]string{"zone": "b"}))
	lines := strings.Split(must(t, p.flag, "status"), "\n")
	want := []string{"billing", "node-a", "1"}
	if got := strings.Fields(lines[1]); !slices.Equal(got[:3], want) || !slices.Contains(got, "10.0.0.7:80") {
		t.Errorf("got %q, want %q with the address", got, want)
	}
	s := decode[[]standing](t, must(t, p.flag, "status", "billing", "--json"))[0]
	switch {
	case s.State != stateHeld, s.Leader != "node-a", s.Token != 1, s.TTL != testTTL.Seconds():
	case s.Since.IsZero(), s.Renewed.IsZero(), s.Address != "10.0.0.7:80", s.Metadata["zone"] != "b":
	default:
		return
	}
	t.Errorf("got %+v", s)
}

func TestStatusExitCode(t *testing.T) {
	p := newPlace(t)
	p.lead(t, "led", "node-a")
	must(t, p.flag, "pause", "paused")
	for _, c := range []struct {
		args []string
		code int
	}{
		{[]string{"led"}, 0},
		{[]string{"paused"}, 121},
		{[]string{"led", "paused"}, 121},
		{[]string{"unknown"}, 121},
		{nil, 0},
	} {
		o := call(t, append([]string{p.flag, "status"}, c.args...)...)
		if o.code != c.code || o.stderr != "" {
			t.Errorf("status %q: exit code %d, want %d; it said %q", c.args, o.code, c.code, o.stderr)
		}
	}
}

func TestStatesInJSON(t *testing.T) {
	p := newPlace(t)
	p.lead(t, "led", "node-a")
	must(t, p.flag, "pause", "paused", "--reason", "moving house", "--id", "ann")
	must(t, p.flag, "pause", "vacant")
	must(t, p.flag, "resume", "vacant")
	must(t, p.flag, "pause", "forgotten")
	must(t, p.flag, "forget", "forgotten", "--yes")
	names := []string{"led", "paused", "vacant", "forgotten", "missing"}
	o := call(t, append([]string{p.flag, "status", "--json"}, names...)...)
	var got []string
	for _, s := range decode[[]standing](t, o.stdout) {
		got = append(got, s.State)
		if s.State == statePaused && (s.Pause.By != "ann" || s.Pause.Reason != "moving house") {
			t.Errorf("got the pause %+v", s.Pause)
		}
	}
	if want := []string{"held", "paused", "vacant", "forgotten", "missing"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEmptyStoreInJSON(t *testing.T) {
	p := newPlace(t)
	for _, command := range []string{"status", "list"} {
		if got := must(t, p.flag, command, "--json"); got != "[]\n" {
			t.Errorf("%s: got %q, want an empty array", command, got)
		}
	}
}

func TestListLeavesOutWhatIsForgotten(t *testing.T) {
	p := newPlace(t)
	for _, name := range []string{"b", "a/b c", "gone"} {
		must(t, p.flag, "pause", name)
	}
	must(t, p.flag, "forget", "gone", "--yes")
	if got, want := must(t, p.flag, "list"), "a/b c\nb\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	got := decode[[]string](t, must(t, p.flag, "list", "--all", "--json"))
	if want := []string{"a/b c", "b", "gone"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWait(t *testing.T) {
	p := newPlace(t)
	if got, want := must(t, p.flag, "wait", "x", "--vacant"), "nobody leads x\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	waited := make(chan outcome)
	go func() { waited <- callWith(t.Context(), p.flag, "wait", "x") }()
	c := p.stand(t, "x", "node-a")
	if o := <-waited; o.code != 0 || o.stdout != "node-a leads x (token 1)\n" {
		t.Errorf("got %+v", o)
	}
	if o := call(t, p.flag, "wait", "x", "--vacant", "--timeout", "50ms"); o.code != codeTimeout {
		t.Errorf("exit code %d while somebody leads, want %d", o.code, codeTimeout)
	}
	go func() { _ = c.Stop(t.Context()) }()
	if s := decode[standing](t, must(t, p.flag, "wait", "x", "--vacant", "--json")); s.State != stateVacant {
		t.Errorf("got %+v", s)
	}
}

func TestEnvironmentNamesTheStore(t *testing.T) {
	p, other := newPlace(t), newPlace(t)
	must(t, p.flag, "pause", "here")
	t.Setenv("TENURE_STORE", strings.TrimPrefix(p.flag, "--store="))
	if got := must(t, "list"); got != "here\n" {
		t.Errorf("got %q from the store of the environment", got)
	}
	if got := must(t, "list", other.flag); got != "" {
		t.Errorf("got %q, but the flag names an empty store", got)
	}
}

func TestDefaultStoreIsInTheStateDirectory(t *testing.T) {
	newPlace(t) // or skip
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	must(t, "pause", "x")
	if got := must(t, "--store=file:"+state+"/tenure", "list"); got != "x\n" {
		t.Errorf("got %q", got)
	}
}

func TestCompletionOfElections(t *testing.T) {
	p := newPlace(t)
	must(t, p.flag, "pause", "billing")
	must(t, p.flag, "pause", "mail")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"status", ""}, "billing\nmail\n:4\n"},
		{[]string{"status", "mail", ""}, "billing\n:4\n"},
		{[]string{"resign", ""}, "billing\nmail\n:4\n"},
		{[]string{"resign", "mail", ""}, ":4\n"},
		{[]string{"run", "--election", ""}, "billing\nmail\n:4\n"},
	} {
		if got := must(t, append([]string{"__complete", p.flag}, c.args...)...); got != c.want {
			t.Errorf("completing %q: got %q, want %q", c.args, got, c.want)
		}
	}
}

func TestVersion(t *testing.T) {
	v := decode[versionInfo](t, must(t, "version", "--json"))
	if v.Version == "" || !strings.HasPrefix(v.Go, "go1.") || !strings.Contains(v.Platform, "/") {
		t.Errorf("got %+v", v)
	}
	if text := must(t, "version"); !strings.HasPrefix(text, "tenure ") {
		t.Errorf("got %q", text)
	}
}

func TestCompletionScripts(t *testing.T) {
	for shell := range shells {
		if text := must(t, "completion", shell); !strings.Contains(text, "__complete") {
			t.Errorf("%s: the script does not ask tenure", shell)
		}
	}
}
