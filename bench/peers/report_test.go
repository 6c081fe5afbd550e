package peers

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure/bench"
)

// sample is a report in round numbers.
func sample() *Report {
	ms := time.Millisecond
	gaps := func(gap time.Duration) HandOver {
		return HandOver{
			Candidates: 3, Gap: bench.Series{gap, gap, 2 * gap}, Ping: bench.Series{ms}, Write: bench.Series{2 * ms},
		}
	}
	result := func(name string, ours bool, gap, failOver time.Duration, requests float64) *Result {
		h := gaps(gap)
		crowd := gaps(2 * gap)
		crowd.Candidates = 10
		return &Result{
			Peer:  Peer{Name: name, Module: "example.org/" + name, Ours: ours, Arena: Arena{Name: "store"}},
			Lease: 10 * time.Second, Default: true, Server: "store 1.0", HandOver: &h, Crowds: []HandOver{crowd},
			FailOver: &FailOver{Lease: 10 * time.Second, Gap: bench.Series{failOver, failOver}},
			Load: &Load{
				Followers: 9, For: time.Minute, Leader: bench.Counts{bench.Requests: requests, Writes: 1},
				Follower: bench.Counts{bench.Requests: requests / 10, Writes: 0},
			},
		}
	}
	ours, other := result("ours", true, 4*ms, 8*time.Second, 20), result("other", false, 40*ms, 12*time.Second, 100)
	return &Report{
		Plan: Plan{Crowds: []int{10}, Lease: 6 * time.Second}, Results: []*Result{ours, other},
		Versions: map[string]string{"example.org/other": "v1.2.3"}, Skipped: []string{"third: not there"},
	}
}

func TestMarkdown(t *testing.T) {
	report := sample()
	report.Results[1].Problems = []string{"load: it rained"}
	var out bytes.Buffer
	report.WriteMarkdown(&out)
	for _, want := range []string{
		"| **ours** | store | 10s | 1.00 | 2.00 | 4.00 | 4.00 / 8.00 | 3 |",
		"| other | store | 10s | 10.0 | 20.0 | 40.0 | 40.0 / 80.0 | 3 |",
		"| other | store | 1.20 / 1.20 | 12.0 | – | – |",
		"| **ours** | store | 10s | 1.00 | 20.0 | 2.00 | 1.00 | 0 |",
		"| other | store | 10s | 5.00 | 100 | 10.0 | 1.00 | 0 |",
		"| other | example.org/other v1.2.3 | store 1.0 |  |",
		"None.",
		"- other, lease 10s: load: it rained",
		"- left out: third: not there",
	} {
		if !strings.Contains(out.String(), want+"\n") {
			t.Errorf("the tables lack %q:\n%s", want, out.String())
		}
	}
}

// At equal leases the crowds are in the tables, and a lease that is fixed is compared with ours at the equal one.
func TestMarkdownOfEqualLeases(t *testing.T) {
	report := sample()
	report.Results[0].Default, report.Results[1].Peer.Fixed = false, true
	var out bytes.Buffer
	report.WriteMarkdown(&out)
	for _, want := range []string{
		"| **ours** | store | 4.00 (1.00) | 8.00 (1.00) |",
		"| other | store | 40.0 (10.0) | 80.0 (10.0) |",
		"| other | store | 10s | 10.0 | 20.0 | 40.0 | 40.0 / 80.0 | 3 |",
	} {
		if !strings.Contains(out.String(), want+"\n") {
			t.Errorf("the tables lack %q:\n%s", want, out.String())
		}
	}
}

// Each number in which another is ahead is found, and none in which it is not.
func TestBehind(t *testing.T) {
	if all := sample().behind(); len(all) != 0 {
		t.Errorf("nobody is ahead, but %+v", all)
	}
	ms := time.Millisecond
	for what, improve := range map[string]func(*Result){
		"hand-over among 3, ms, median": func(r *Result) { r.HandOver.Gap = bench.Series{3 * ms, 3 * ms, 9 * ms} },
		"hand-over among 3, ms, 99th":   func(r *Result) { r.HandOver.Gap = bench.Series{4 * ms, 4 * ms, 7 * ms} },
		"hand-over among 10, ms, median": func(r *Result) {
			r.Crowds[0].Gap = bench.Series{7 * ms}
		},
		"requests of a leader, default": func(r *Result) { r.Load.Leader[bench.Requests] = 17 },
		"fail-over, leases, median":     func(r *Result) { r.FailOver.Gap = bench.Series{7 * time.Second} },
		"requests of a leader":          func(r *Result) { r.Load.Leader[bench.Requests] = 10 },
		"requests of a follower":        func(r *Result) { r.Load.Follower[bench.Requests] = 1 },
		"writes of a leader":            func(r *Result) { r.Load.Leader[Writes] = 0 },
	} {
		report := sample()
		improve(report.Results[1])
		all := report.behind()
		if len(all) != 1 || !strings.HasPrefix(all[0].What, what) || all[0].Other != "other" {
			t.Errorf("%s: found %+v", what, all)
			continue
		}
	}
}

// What nobody has explained says so; what has a reason has one on a single line, as a table needs it.
func TestReasons(t *testing.T) {
	if why := reason(lead{Other: "unknown", What: "hand-over among 3, ms, median"}); why != unexplained {
		t.Errorf("a contender that nobody knows has the reason %q", why)
	}
	for _, b := range reasons {
		if why := reason(lead{Other: b.other, What: b.what}); why == unexplained || strings.Contains(why, "\n") {
			t.Errorf("%s, %s: the reason is %q", b.other, b.what, why)
		}
	}
}

// What is within the margin of a machine that does other things too is nobody's lead, and neither is what was not
// measured.
func TestBehindByAMargin(t *testing.T) {
	for what, change := range map[string]func(*Report){
		"7.3 s in place of 8 s":          func(r *Report) { r.Results[1].FailOver.Gap = bench.Series{7300 * time.Millisecond} },
		"a write less in two minutes":    func(r *Report) { r.Results[1].Load.Leader[Writes] = 0.5 },
		"no hand-over of ours":           func(r *Report) { r.Results[0].HandOver = nil },
		"no load and no crowd of theirs": func(r *Report) { r.Results[1].Load, r.Results[1].Crowds = nil, nil },
		"no fail-over of theirs":         func(r *Report) { r.Results[1].FailOver = nil },
		"nothing on the same server":     func(r *Report) { r.Results[1].Peer.Arena.Name = "another" },
	} {
		report := sample()
		change(report)
		if all := report.behind(); len(all) != 0 {
			t.Errorf("%s: %+v", what, all)
		}
	}
}

// A contender that is ahead several times for one reason has one row.
func TestBehindInRows(t *testing.T) {
	report := sample()
	report.Results[1].FailOver.Gap = bench.Series{7 * time.Second}
	report.Results[1].Load.Leader[bench.Requests] = 10
	report.Results[1].HandOver.Gap = bench.Series{ms(3), ms(3), ms(9)}
	var out bytes.Buffer
	report.writeBehind(&out)
	for _, want := range []string{
		"| other | hand-over among 3, ms, median, default leases: 3.00, 4.00 | " + unexplained + " |",
		"| other | requests of a leader, default leases: 10.0, 20.0 | " + longer + " |",
	} {
		if !strings.Contains(out.String(), want+"\n") {
			t.Errorf("the table lacks %q:\n%s", want, out.String())
		}
	}
	report.Results[1].Crowds[0].Gap = bench.Series{ms(1)}
	out.Reset()
	report.writeBehind(&out)
	if n := strings.Count(out.String(), unexplained); n != 1 {
		t.Errorf("one reason is given %d times:\n%s", n, out.String())
	}
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }
