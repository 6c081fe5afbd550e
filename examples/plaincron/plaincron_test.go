package main

import (
	"path/filepath"
	"testing"

	"github.com/tenure-go/tenure/examples/internal/exampletest"
	"github.com/tenure-go/tenure/internal/testserver"
)

func TestMain(m *testing.M) { exampletest.Main(m) }

// TestPlainJobRunsOnTheLeader of three processes: killed and stopped leaders are followed. Lease and drain are
// so long that nobody could wait for them.
func TestPlainJobRunsOnTheLeader(t *testing.T) {
	elections, ledger := t.TempDir(), filepath.Join(t.TempDir(), "ledger")
	program := exampletest.Build(t, ".")
	nodes := map[string]*testserver.Process{}
	for _, id := range []string{"a", "b", "c"} {
		nodes[id] = exampletest.Start(t, nil, program, "-elections", elections, "-ledger", ledger, "-id", id,
			"-ttl", "10m", "-spec", "@every 1s")
	}
	first := exampletest.AwaitEntry(t, ledger, 0)
	exampletest.AwaitMore(t, ledger)
	nodes[first.By].Kill()
	second := exampletest.AwaitEntry(t, ledger, first.Token)
	nodes[second.By].Stop()
	exampletest.AwaitEntry(t, ledger, second.Token)
	exampletest.AwaitMore(t, ledger)
}
