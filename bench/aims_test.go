package bench

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"
)

// sampleResult is one in round numbers.
func sampleResult() *Result {
	return &Result{
		Bed: Bed{Name: "store", Aim: Aim{Renewal: 1.5, HandOver: 4, Silent: true}}, Pushes: true,
		Renewal: Renewal{Renewal: Series{140}, Write: Series{100}, Ping: Series{50}},
		HandOver: []HandOver{{
			Candidates: 3, Gap: Series{190}, Ping: Series{50}, Write: Series{100}, Renewal: Series{125}, Push: Series{80}, Bid: Series{100},
			Own: Series{10},
		}},
		Herd:     &Herd{Candidates: 500, Changes: 2, Accepted: 4, Rejected: 600, MostRejected: 499, Gap: Series{300}},
		FailOver: &FailOver{TTL: time.Second, Gap: Series{900 * time.Millisecond, time.Second}},
		Load: &Load{
			Followers: 9, For: time.Minute, Leader: Calls{Accepted: 18}, Counts: Counts{Requests: 18},
		},
		Writers: &Writers{Leaders: 2, Writes: []float64{10}, Renewals: []float64{5}},
	}
}

func TestFindings(t *testing.T) {
	if report := (Report{Results: []*Result{sampleResult()}}); len(report.Missed()) != 0 || len(report.findings()) != 6 {
		t.Errorf("of %d findings these are missed: %+v", len(report.findings()), report.Missed())
	}
	for what, spoil := range map[string]func(*Result){
		"bare writes in a renewal":         func(r *Result) { r.Renewal.Renewal = Series{150} },
		"store round trips in a hand-over": func(r *Result) { r.HandOver[0].Gap = Series{500} },
		"requests of a follower":           func(r *Result) { r.Load.Counts[Requests] = 19 },
		"accepted writes":                  func(r *Result) { r.Herd.Accepted = 5 },
		"rejected writes":                  func(r *Result) { r.Herd.MostRejected = 500 },
		"terms that ended by themselves":   func(r *Result) { r.Herd.Lost = []error{&lostError{errors.New("revoked")}} },
		"TTLs in a fail-over":              func(r *Result) { r.FailOver.Gap[1] = 1020 * time.Millisecond },
	} {
		result := sampleResult()
		spoil(result)
		missed := (&Report{Results: []*Result{result}}).Missed()
		if len(missed) != 1 || !strings.HasPrefix(missed[0].What, what) {
			t.Errorf("%s: missed %+v", what, missed)
		}
	}
}

// A store that is polled may take a poll interval more, and what cannot be measured is not met.
func TestFindingsOfAStoreThatIsPolled(t *testing.T) {
	result := sampleResult()
	result.Pushes, result.Bed.Aim = false, Aim{}
	result.FailOver.Gap[1] = 1190 * time.Millisecond
	if missed := (&Report{Results: []*Result{result}}).Missed(); len(missed) != 0 {
		t.Errorf("missed %+v", missed)
	}
	result.Bed.Aim.Renewal, result.Renewal.Write = 1.5, nil
	if missed := (&Report{Results: []*Result{result}}).Missed(); len(missed) != 1 {
		t.Errorf("missed %+v, want the renewal that was not measured", missed)
	}
}

func TestFollowersAreChargedWhatTheLeaderDidNotSend(t *testing.T) {
	load := Load{Followers: 4, For: 30 * time.Second, Leader: Calls{Accepted: 10}, Follower: Calls{Loads: 6}}
	if got := load.followerRequests(); got != 3 {
		t.Errorf("by calls a follower sends %v a minute, want 3", got)
	}
	load.Counts = Counts{Requests: 30}
	if got := load.followerRequests(); got != 10 {
		t.Errorf("by the server a follower sends %v a minute, want 10", got)
	}
}

func TestMarkdown(t *testing.T) {
	report := &Report{Plan: ShortPlan(), Results: []*Result{sampleResult(), {Bed: Bed{Name: "broken"}}}}
	var out bytes.Buffer
	report.WriteMarkdown(&out)
	for _, want := range []string{
		"| store | 1.40 | 1.52 / 1.90 / 3.80 | 0.90 / 1.00 |", // ratios
		"| store | bare writes in a renewal, median | below 1.50 | 1.40 | yes |",
		"| store | 2.00 | 300 | 499 | 0 | – | 3.00 / 3.00 |", // herd
		"| store | 3 | 42.1 | 52.6 | 5.26 |",                 // parts
		"| store | 2.00 | 5.00 | 10.0 |",                     // writers
		"| broken | – | – | – |",
	} {
		if !strings.Contains(out.String(), want+"\n") {
			t.Errorf("the tables lack %q:\n%s", want, out.String())
		}
	}
	columns := 0
	for line := range strings.Lines(out.String()) {
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		if n := strings.Count(line, "|"); columns != 0 && n != columns {
			t.Errorf("a row has %d cells, its head %d: %s", n-1, columns-1, line)
		}
		columns = strings.Count(line, "|")
	}
}

func TestReplace(t *testing.T) {
	begin, end := marks("make bench")
	otherBegin, otherEnd := marks("make other")
	others := "between\n" + otherBegin + "kept\n" + otherEnd
	document := []byte("before\n" + others + begin + "old\n" + end + "after\n")
	for _, text := range []string{"new\n", "newer\n"} {
		replaced, err := Replace(document, "make bench", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if want := "before\n" + others + begin + "\n" + text + end + "after\n"; string(replaced) != want {
			t.Errorf("the document is %q, want %q", replaced, want)
		}
		document = replaced
	}
	if _, err := Replace([]byte("nothing\n"), "make bench", nil); err == nil {
		t.Error("a document without a place was accepted")
	}
}
