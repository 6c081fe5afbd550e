package ledger

import (
	"errors"
	"slices"
	"sync"
	"testing"
)

func open(t *testing.T, dir string) *Ledger {
	t.Helper()
	l, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLedgerRefusesADeposedLeader(t *testing.T) {
	dir := t.TempDir()
	old, newer := open(t, dir), open(t, dir)
	first, second := Entry{7, "a", "first"}, Entry{8, "b", "second of two words"}
	if err := errors.Join(old.Append(first), newer.Append(second)); err != nil {
		t.Fatal(err)
	}
	if err := old.Append(Entry{7, "a", "late"}); !errors.Is(err, ErrStale) {
		t.Errorf("a token that is over is told %v", err)
	}
	if got, err := Read(dir); err != nil || !slices.Equal(got, []Entry{first, second}) {
		t.Errorf("the ledger has %v, %v", got, err)
	}
}

// TestLedgerOrdersWriters that write at the same time.
func TestLedgerOrdersWriters(t *testing.T) {
	dir := t.TempDir()
	const writers, each = 4, 25
	var wg sync.WaitGroup
	for token := range uint64(writers) {
		l := open(t, dir)
		wg.Go(func() {
			for range each {
				if err := l.Append(Entry{token, "w", ""}); err != nil && !errors.Is(err, ErrStale) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	all, err := Read(dir)
	byToken := func(a, b Entry) int { return int(a.Token) - int(b.Token) }
	if err != nil || !slices.IsSortedFunc(all, byToken) || len(all) < each {
		t.Errorf("%d entries with tokens out of order, or too few: %v, %v", len(all), all, err)
	}
}
