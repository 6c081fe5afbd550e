package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenure-go/tenure/bench/plot"
)

const stores = `### Ratios

Text | with a bar.

| store | renewal, in writes | hand-over among 3 | hand-over among 50 |
| --- | ---: | ---: | ---: |
| natskv | 1.37 | 1.93 / 2.56 / 7.30 | 3.53 / 11.5 / 30.8 |
| s3 | 0.97 | 0.31 / 0.86 polls | 0.02 / 0.06 polls |

### Candidates at rest

| store | leader: calls a minute | requests per candidate-minute |
| --- | ---: | ---: |
| natskv | 19.0 | 1.90 |
| s3 | 19.0 | – |
`

const peers = `### Hand-over among many

| contender | server | 3 | 10 | 50 |
| --- | ---: | ---: | ---: | ---: |
| **tenure-redis** | Redis | 0.51 (1.00) | 0.62 (1.00) | – |
| redsync | Redis | 53.0 (104) | 60.1 (97.0) | 80.0 |
| pglock | PostgreSQL | 8000 (3000) | – | – |

### Requests at rest, leases at defaults

| contender | server | leader: requests | follower: requests |
| --- | ---: | ---: | ---: |
| **tenure-redis** | Redis | 19.0 | 0 |
| redsync | Redis | 23.0 | 811 |
`

// documents returns a directory with the two.
func documents(t *testing.T, stores, peers string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"benchmarks.md": stores, "peers.md": peers} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func drawn(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "benchmarks", "*.svg"))
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		names[i] = strings.TrimSuffix(filepath.Base(name), ".svg")
	}
	slices.Sort(names)
	return names
}

func TestDrawsWhatTheTablesHold(t *testing.T) {
	dir := documents(t, stores, peers)
	var stderr strings.Builder
	other := plot.Figure{Title: "another's", Kind: plot.Bars, Series: []plot.Series{{Name: "s", Points: make([]plot.Point, 1)}}}
	if err := other.Write(filepath.Join(dir, "benchmarks"), "other"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "benchmarks", "other.svg")); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"-docs", dir}, &stderr); err != nil {
		t.Fatal(err)
	}
	want := []string{"hand-over", "hand-over-postgresql", "hand-over-redis", "other", "requests", "requests-peers"}
	if got := drawn(t, dir); !slices.Equal(got, want) {
		t.Errorf("drawn are %q, want %q", got, want)
	}
	if !strings.Contains(stderr.String(), "hand-over-nats: not drawn") {
		t.Errorf("nothing says that there is nothing about NATS: %q", &stderr)
	}
	for name, holds := range map[string][2]string{
		"hand-over":       {`"y": 3.53`, "s3"},
		"requests":        {`"y": 1.9`, "s3"},
		"hand-over-redis": {`"y": 60.1`, "pglock"},
		"requests-peers":  {`"y": 732.2`, "NATS"},
	} {
		text, err := os.ReadFile(filepath.Join(dir, "benchmarks", name+".json"))
		if err != nil || !strings.Contains(string(text), holds[0]) || strings.Contains(string(text), holds[1]) {
			t.Errorf("%s holds no %s, or %s: %s %v", name, holds[0], holds[1], text, err)
		}
	}
}

func TestDocumentsWithoutTables(t *testing.T) {
	dir := documents(t, "# Nothing\n", "### Hand-over among many\n\n| contender |\n| --- |\n")
	var stderr strings.Builder
	if err := run([]string{"-docs", dir}, &stderr); err != nil || len(drawn(t, dir)) > 0 {
		t.Errorf("drawn are %q: %v", drawn(t, dir), err)
	}
	if strings.Count(stderr.String(), "there is no table") != 8 {
		t.Errorf("eight figures lack their tables, but it says %q", &stderr)
	}
}

func TestWrongArguments(t *testing.T) {
	for _, args := range [][]string{{"argument"}, {"-no-such-flag"}, {"-docs", t.TempDir()}} {
		if err := run(args, io.Discard); err == nil {
			t.Errorf("%q was accepted", args)
		}
	}
}
