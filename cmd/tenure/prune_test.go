package main

import (
	"strings"
	"testing"

	"github.com/tenure-go/tenure"
)

// write writes a record of an election that had none.
func (p place) write(t *testing.T, election string, record tenure.Record) {
	t.Helper()
	record.TTL = testTTL
	if _, err := p.store.CompareAndSwap(t.Context(), election, "", record); err != nil {
		t.Fatal(err)
	}
}

func TestPruneDeletesUnusedElectionsOnly(t *testing.T) {
	p := newPlace(t)
	p.write(t, "held", tenure.Record{Token: 3, Leader: "a", Session: "s"})
	p.write(t, "paused", tenure.Record{Token: 4, Pause: &tenure.Pause{By: "ann"}})
	p.write(t, "gone", tenure.Record{Token: 5})
	p.write(t, "lost", tenure.Record{Token: 9})
	if got := must(t, p.flag, "prune", "--yes"); got != "" {
		t.Errorf("records of today were pruned: %q", got)
	}
	if got, want := must(t, p.flag, "prune", "--yes", "--unused", "0"), "gone\nlost\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := must(t, p.flag, "list", "--all"), "held\npaused\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := must(t, p.flag, "prune", "--yes", "--unused", "0", "--json"), "[]\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	p.lead(t, "gone", "node-a")
	if got := p.load(t, "gone").Token; got <= 9 {
		t.Errorf("the next term has token %d, not above the highest of the deleted records", got)
	}
}

func TestPruneAsks(t *testing.T) {
	p := newPlace(t)
	checkRefusal(t, call(t, p.flag, "prune"), codeFailed, "give --yes")
	checkRefusal(t, call(t, p.flag, "prune", "--yes", "--unused", "-1s"), codeFailed, "must not be negative")
	o := call(t, p.flag, "prune", "--yes")
	if want := "no election was unused for 720h0m0s"; o.code != 0 || !strings.Contains(o.stderr, want) {
		t.Errorf("got %+v, want %q", o, want)
	}
}

func TestMigratePrintsWithoutConnecting(t *testing.T) {
	for url, want := range map[string]string{
		"postgres://nowhere.invalid/app?schema=elections": `CREATE TABLE "elections"."tenure"`,
		"mysql://u:p@nowhere.invalid/app?table=seats":     "CREATE TABLE IF NOT EXISTS `seats`",
		"sqlite:///nowhere/at/all.db":                     "tenure_elections",
	} {
		if got := must(t, "--store="+url, "migrate", "--print"); !strings.Contains(got, want) {
			t.Errorf("%s: %q is not in\n%s", url, want, got)
		}
	}
	checkRefusal(t, call(t, "--store=postgres://u:secret@h/d?tabel=x", "migrate", "--print"), codeFailed, "tabel")
}

func TestMigrateWithoutTables(t *testing.T) {
	p := newPlace(t)
	if o := call(t, p.flag, "migrate"); o.code != 0 || !strings.Contains(o.stderr, "there is nothing to do") {
		t.Errorf("got %+v", o)
	}
	checkRefusal(t, call(t, p.flag, "migrate", "--print"), codeFailed, `the store "file:" has no tables`)
}
