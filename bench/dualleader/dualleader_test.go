package dualleader

import (
	"flag"
	"testing"
)

var (
	histories = flag.Int("dual.histories", 200, "how many histories of each library and fault are written about")
	document  = flag.String("dual.write", "", "play all histories and put the tables into this document")
	figures   = flag.String("dual.figures", "", "the directory that the figure is drawn into")
)

// TestWriteDocument writes the tables; without the flag that names the document there is nothing to do.
func TestWriteDocument(t *testing.T) {
	if *document == "" {
		t.Skip("writes tables: see make bench-dual")
	}
	report := Run(t, *histories)
	report.Costs = MeasureCosts(t, Crowds)
	if err := report.Write(*document, *figures); err != nil {
		t.Fatal(err)
	}
}

// few plays some histories of one fault.
func few(t *testing.T, p *Peer, id string, histories int) Result {
	t.Helper()
	var r Result
	for _, f := range Faults() {
		if f.ID == id {
			r.play(t, p, f, histories)
			return r
		}
	}
	t.Fatalf("there is no fault %q", id)
	return r
}

// Ours keeps its promise whatever befalls it, at its defaults and with timings that leave no slack.
func TestOursNeverOverlaps(t *testing.T) {
	for _, p := range []*Peer{Tenure(), Sharp()} {
		for _, f := range Faults() {
			if f.Beyond != "" {
				continue
			}
			var r Result
			r.play(t, p, f, 10)
			if r.Dual > 0 {
				t.Errorf("%s, %s: two led at once in %d of %d histories, for %v at worst",
					p.Name, f.Name, r.Dual, r.Histories, r.Worst)
			}
			if r.Histories < 9 {
				t.Errorf("%s, %s: somebody led in %d histories alone", p.Name, f.Name, r.Histories)
			}
		}
	}
}

// What is beyond the promise is seen to fail, so that the table tells the truth about ours too.
func TestBeyondThePromiseOursOverlaps(t *testing.T) {
	for _, id := range []string{"overrun", "snapshot"} {
		if r := few(t, Tenure(), id, 12); r.Dual == 0 {
			t.Errorf("%s: no overlap in %d histories", id, r.Histories)
		}
	}
	// One seed for two processes does not give them one session any more. The simulator copies whole processes.
	if r := few(t, Tenure(), "clones", 12); r.Dual > 0 {
		t.Errorf("clones: two led at once in %d of %d histories", r.Dual, r.Histories)
	}
	if r := few(t, Tenure(), "rate-0.20", 60); r.Dual == 0 {
		t.Errorf("clocks wrong by a fifth: no overlap in %d histories", r.Histories)
	}
}

// Without a fault every library elects one leader, renews, and never has two: no adapter stands in its own way.
func TestHarnessIsFair(t *testing.T) {
	for _, p := range Peers() {
		for seed := range uint64(3) {
			o := Play(t, p, Faults()[0], seed)
			if !o.Struck || o.Dual() || o.Led < 0.99 || o.Writes < 10 {
				t.Errorf("%s, seed %d: %+v, want one leader throughout that renews", p.Name, seed, o)
			}
		}
	}
}

// A leader that goes is followed, whatever the library: nobody is kept apart by nobody leading.
func TestEveryLibraryFollowsADeadLeader(t *testing.T) {
	for _, p := range Peers() {
		followed := false
		fault := &Fault{ID: "dead", Name: "the leader's process dies", strike: func(h *History) {
			i := h.Leader()
			h.nodes[i].Link.Cut(true, true)
			h.nodes[i].frozen.Store(true) // not asked any more
			followed = h.Await(h.leases(3), func() bool { return h.Leader() >= 0 })
			h.nodes[i].frozen.Store(false)
		}}
		Play(t, p, fault, 7)
		if !followed {
			t.Errorf("%s: nobody leads three leases after the leader's death", p.Name)
		}
	}
}

// What is known of client-go from elsewhere is seen here too.
func TestKnownOfClientGo(t *testing.T) {
	const n = 24
	lease := ClientGo().Lease
	late, later := few(t, ClientGo(), "late-0.33", n), few(t, ClientGo(), "late-0.66", n)
	if late.Dual == n || late.Worst > lease/4 {
		t.Errorf("a reply a third of a lease late: %+v, want some histories, and overlaps of a tenth of a lease", late)
	}
	if later.Dual < n*9/10 || later.Worst < lease/4 || later.Worst > lease/2+lease/10 {
		t.Errorf("a reply two thirds of a lease late: %+v, want nearly all, and overlaps of 0.45 leases", later)
	}
	if twins := few(t, ClientGo(), "one-identity", 4); twins.Dual != 4 || twins.Worst < 4*lease {
		t.Errorf("one identity: %+v, want all histories, for as long as they last", twins)
	}
	stopped := few(t, ClientGoReleasing(), "drain", n)
	if stopped.Dual != n || stopped.Worst < lease/3 {
		t.Errorf("release while work drains: %+v, want all histories", stopped)
	}
}

// The harness can fail: with the deadline taken out of ours it reports overlaps.
func TestWithoutItsDeadlineOursOverlaps(t *testing.T) {
	for _, id := range []string{"late-0.33", "black-hole", "requests-lost", "pause"} {
		if r := few(t, Distrustful(), id, 8); r.Dual < 6 {
			t.Errorf("%s: overlaps in %d of %d histories alone", id, r.Dual, r.Histories)
		}
	}
	if r := few(t, Distrustful(), "none", 4); r.Dual > 0 {
		t.Errorf("without a fault it overlaps in %d histories", r.Dual)
	}
}

// Of ours, to which all that is random can be given, a seed is a history.
func TestSeedIsAHistory(t *testing.T) {
	for _, f := range Faults() {
		for seed := range uint64(2) {
			if first, again := Play(t, Tenure(), f, seed), Play(t, Tenure(), f, seed); first != again {
				t.Errorf("%s, seed %d: %+v, and again %+v", f.Name, seed, first, again)
			}
		}
	}
}
