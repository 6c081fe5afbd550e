package exampletest

import (
	"slices"

	"github.com/tenure-go/tenure/examples/ledger"
	"github.com/tenure-go/tenure/internal/storetest"
)

// AwaitEntry waits for the first entry of the ledger in dir with a token above the given one.
func AwaitEntry(tb TB, dir string, above uint64) ledger.Entry {
	tb.Helper()
	return AwaitEntryBy(tb, dir, above, "")
}

// AwaitEntryBy waits for the first of somebody; empty for anybody. On a busy machine it may not be the next one's.
func AwaitEntryBy(tb TB, dir string, above uint64, by string) (found ledger.Entry) {
	tb.Helper()
	storetest.Eventually(tb, "a newer leader has written to the ledger: "+by, func() bool {
		entries := Entries(tb, dir)
		i := slices.IndexFunc(entries, func(e ledger.Entry) bool { return e.Token > above && (by == "" || e.By == by) })
		if i >= 0 {
			found = entries[i]
		}
		return i >= 0
	})
	return found
}

// AwaitMore waits until the ledger in dir has more entries than now.
func AwaitMore(tb TB, dir string) {
	tb.Helper()
	before := len(Entries(tb, dir))
	storetest.Eventually(tb, "the leader goes on writing", func() bool { return len(Entries(tb, dir)) > before })
}

// Entries returns the ledger in dir. The test stops if a token falls, or stands for two leaders.
func Entries(tb TB, dir string) []ledger.Entry {
	tb.Helper()
	entries, err := ledger.Read(dir)
	if err != nil {
		tb.Fatalf("%v", err)
	}
	for i := 1; i < len(entries); i++ {
		before, e := entries[i-1], entries[i]
		if e.Token < before.Token || e.Token == before.Token && e.By != before.By {
			tb.Fatalf("two leaders have acted at once: after %+v came %+v", before, e)
		}
	}
	return entries
}
