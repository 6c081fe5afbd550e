//go:build linux

package integration_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure/integration/internal/beds"
	"github.com/tenure-go/tenure/integration/internal/chaos"
	"github.com/tenure-go/tenure/integration/internal/check"
	"github.com/tenure-go/tenure/integration/internal/nemesis"
	"github.com/tenure-go/tenure/integration/internal/worker"
)

func TestMain(m *testing.M) {
	if worker.Wanted() {
		os.Exit(worker.Main())
	}
	os.Exit(m.Run())
}

// logged passes lines on to a test's log.
type logged struct{ t *testing.T }

func (l logged) Write(p []byte) (int, error) {
	l.t.Log(strings.TrimRight(string(p), "\n"))
	return len(p), nil
}

// A share of what make chaos does, from the same seed every time.
func TestChaos(t *testing.T) {
	for _, c := range []struct {
		bed    beds.Bed
		faults []string
	}{
		{beds.File(), []string{"kill", "stop-long", "freeze", "clock"}},
		{beds.Redis(), []string{"partition", "replies-lost", "server-kill", "kill-all"}},
		{beds.Redis(), []string{"partition", "drop", "unplug"}},
	} {
		t.Run(c.bed.Name, func(t *testing.T) {
			t.Parallel()
			result, err := chaos.Run(t.Context(), t, options(t, c.bed, c.faults))
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range result.Rows {
				t.Logf("%-14s %-10s %s", row.ID, row.Verdict, row.Note)
				for _, f := range row.Findings {
					if row.Verdict == check.Violated {
						t.Errorf("%s: %s", row.ID, f.Text)
					}
				}
			}
			if !result.Passed {
				t.Error("the run did not pass")
			}
		})
	}
}

func options(t *testing.T, bed beds.Bed, names []string) chaos.Options {
	t.Helper()
	faults, err := nemesis.Find(names)
	if err != nil {
		t.Fatal(err)
	}
	return chaos.Options{
		Bed: bed, Seed: 1, For: 20 * time.Second, Candidates: 4, TTL: 3 * time.Second, Faults: faults, Dir: t.TempDir(),
		Log: logged{t}, Command: "go test ./integration",
	}
}

// What is not protected has to be found out; make chaos-selfcheck does this for every protection.
func TestMissingProtectionsAreFound(t *testing.T) {
	short := map[string]bool{worker.ActWithoutAsking: true, chaos.FenceOff: true, chaos.ForgetfulStore: true}
	for _, p := range chaos.Plants() {
		if !short[p.Protection] {
			continue
		}
		t.Run(p.Protection, func(t *testing.T) {
			t.Parallel()
			o := options(t, p.Bed(), p.Faults)
			o.TTL = 2 * time.Second
			if err := p.Check(t.Context(), t, o); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for name, change := range map[string]func(*chaos.Options){
		"too short":         func(o *chaos.Options) { o.For = time.Second },
		"half a second":     func(o *chaos.Options) { o.TTL = 2500 * time.Millisecond },
		"alone":             func(o *chaos.Options) { o.Candidates = 1 },
		"no such plant":     func(o *chaos.Options) { o.Unsafe = "everything" },
		"cannot be wiped":   func(o *chaos.Options) { o.Unsafe, o.Bed = chaos.ForgetfulStore, beds.Redis() },
		"nothing goes bad":  func(o *chaos.Options) { o.Faults = nil },
		"nothing that fits": func(o *chaos.Options) { o.Faults, _ = nemesis.Find([]string{"server-kill"}) },
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t, beds.File(), []string{"kill"})
			o.LibraryOnly = true
			change(&o)
			if _, err := chaos.Run(t.Context(), t, o); err == nil {
				t.Error("it was accepted")
			}
		})
	}
}
