package sim

import (
	"bytes"
	"testing"
)

// firstSeed is not 1, so that this test does not repeat what other runs begin with.
const firstSeed = 1_000_000

// Every rule holds in every history, and no fault, input, effect or way of ending is missing from them. A quarter of
// the histories are new ones each time; what occurs is counted in the others alone, so that it does not depend on luck.
func TestHistoriesKeepEveryRule(t *testing.T) {
	n := uint64(7500)
	if testing.Short() {
		n = 3000
	}
	tally := keepEveryRule(t, firstSeed, n)
	if missing := tally.Missing(); len(missing) > 0 {
		t.Errorf("in %d histories these never occurred: %q", n, missing)
	}
	t.Logf("%d histories with %d terms and %d events", tally.Histories, tally.Terms, tally.Events)
	fresh := FreshSeed()
	t.Logf("fresh seeds %d to %d", fresh, fresh+n/3-1)
	keepEveryRule(t, fresh, n/3)
}

// keepEveryRule plays n histories and counts what they contain.
func keepEveryRule(t *testing.T, first, n uint64) (tally Tally) {
	w := NewWorld()
	for seed := first; seed < first+n; seed++ {
		if !w.Run(Mix, seed) {
			t.Fatalf("seed %d failed: %v\nreplay: %s", seed, w.Violations, Replay(Mix, seed))
		}
		tally.Add(w)
	}
	return tally
}

// A seed replays its history exactly, whatever was played before it in the same world.
func TestReplayIsExact(t *testing.T) {
	used := NewWorld()
	hashes := map[uint64]uint64{}
	for seed := range uint64(300) {
		used.Run(Mix, seed)
		fresh := NewWorld()
		var log Log
		fresh.Record(&log)
		fresh.Run(Mix, seed)
		if used.Hash() != fresh.Hash() {
			t.Errorf("seed %d plays two histories", seed)
		}
		if other, ok := hashes[used.Hash()]; ok {
			t.Errorf("seeds %d and %d play the same history", seed, other)
		}
		hashes[used.Hash()] = seed
	}
}

// Beyond what the rules promise they have to be seen to fail: a checker that never fails proves nothing.
func TestBeyondThePromiseTheRulesAreSeenToFail(t *testing.T) {
	for _, kind := range []Kind{BeyondE, Snapshot} {
		w := NewWorld()
		broken := false
		for seed := uint64(1); seed <= 5000 && !broken; seed++ {
			w.Run(kind, seed)
			broken = w.Broke(S1)
		}
		if !broken {
			t.Errorf("%v: S1 was not seen to fail in 5000 histories", kind)
		}
	}
}

func TestTimelineShowsTheHistory(t *testing.T) {
	var log Log
	w := NewWorld()
	w.Record(&log)
	w.Run(Mix, 1)
	page := w.Timeline(&log)
	for _, want := range []string{"<!doctype html>", "History 1", "<svg", "trusted", "</html>"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the timeline does not show %q", want)
		}
	}
}
