package bench

import (
	"fmt"
	"io"
	"runtime"
	"time"
)

// Report is what a run measured.
type Report struct {
	Plan    Plan
	Results []*Result
	Skipped []string
	Date    time.Time
	Took    time.Duration
	Machine string
}

func newReport(plan Plan, results []*Result, skipped []string) *Report {
	return &Report{Plan: plan, Results: results, Skipped: skipped, Date: time.Now(), Machine: Machine()}
}

// Missed returns the findings of all beds that are short of their aim.
func (r *Report) Missed() []Finding {
	var missed []Finding
	for _, f := range r.findings() {
		if !f.Met {
			missed = append(missed, f)
		}
	}
	return missed
}

func (r *Report) findings() []Finding {
	var all []Finding
	for _, result := range r.Results {
		all = append(all, result.findings()...)
	}
	return all
}

// WriteMarkdown writes the tables, ratios first.
func (r *Report) WriteMarkdown(w io.Writer) {
	fmt.Fprintf(w, "Measured on %s with %s, in %s, on %s.\n\n",
		r.Date.Format("2 January 2006"), runtime.Version(), r.Took.Round(time.Second), r.Machine)
	for _, section := range []struct {
		title, text string
		write       func(io.Writer)
	}{
		{"Ratios", ratiosText, r.writeRatios},
		{"Aims", "", r.writeAims},
		{"Candidates at rest", r.loadText(), r.writeLoad},
		{"A herd", r.herdText(), r.writeHerd},
		{"What a hand-over consists of", handOverText, r.writeParts},
		{"Many leaders at once", r.writersText(), r.writeWriters},
		{"What a server counts", countsText, r.writeCounts},
		{"Times", timesText, r.writeTimes},
		{"Stores", "", r.writeStores},
	} {
		fmt.Fprintf(w, "### %s\n\n", section.title)
		if section.text != "" {
			fmt.Fprintf(w, "%s\n\n", section.text)
		}
		section.write(w)
	}
}

const ratiosText = `Renewal: a leader's write through the store, as a multiple of a bare write to the same server, made
in turn with it; medians. Hand-over: from the end of the leader's work to the start of the next leader's, as a multiple
of a store round trip (a renewal) / of a bare write / of a bare round trip such as PING, all made in between; medians. A
store that does not push is polled every fifth of the TTL, and its hand-over is given in poll intervals, median / 99th
percentile. Fail-over: from kill -9 of the leading process to the start of the next leader's work, in TTLs; median /
worst.`

func (r *Report) writeRatios(w io.Writer) {
	t := &Table{Head: []string{"store", "renewal, in writes"}}
	for _, n := range r.Plan.Candidates {
		t.Head = append(t.Head, fmt.Sprintf("hand-over among %d", n))
	}
	t.Head = append(t.Head, "fail-over, in TTLs")
	for _, result := range r.Results {
		cells := []string{result.Bed.Name, Number(Ratio(result.Renewal.Renewal.Median(), result.Renewal.Write.Median()))}
		for _, h := range result.HandOver {
			cells = append(cells, h.ratios())
		}
		for len(cells) < len(t.Head)-1 {
			cells = append(cells, None)
		}
		t.Add(append(cells, result.failOver())...)
	}
	t.Write(w)
}

func (h *HandOver) ratios() string {
	if h.Poll > 0 {
		return pair(h.Gap, h.Poll) + " polls"
	}
	gap := h.Gap.Median()
	return fmt.Sprintf("%s / %s / %s", Number(Ratio(gap, h.Renewal.Median())), Number(Ratio(gap, h.Write.Median())),
		Number(Ratio(gap, h.Ping.Median())))
}

func (r *Result) failOver() string {
	if r.FailOver == nil {
		return None
	}
	f := r.FailOver
	return Number(Ratio(f.Gap.Median(), f.TTL)) + " / " + Number(Ratio(worst(f.Gap), f.TTL))
}

func (r *Report) writeAims(w io.Writer) {
	t := &Table{Head: []string{"store", "what", "aim", "measured", "met"}}
	for _, f := range r.findings() {
		met := "yes"
		if !f.Met {
			met = "**no**"
		}
		t.Add(f.Store, f.What, f.Aim, f.Measured, met)
	}
	t.Write(w)
}

func (r *Report) loadText() string {
	return fmt.Sprintf(`A leader and %d followers for %v, at default settings, each with connections of its own. Calls
are those of candidates to their stores; requests are what the server counted, where it can. A store may answer the
calls of many candidates with one request, and may send requests by itself.`, r.Plan.Followers, r.Plan.Load)
}

func (r *Report) writeLoad(w io.Writer) {
	t := &Table{Head: []string{
		"store", "leader: calls a minute", "follower: calls a minute", "requests per candidate-minute",
		"of which of a follower", "WAL bytes per candidate-minute", "whole pages in it", "connections per candidate",
	}}
	for _, result := range r.Results {
		l := result.Load
		if l == nil {
			continue
		}
		sent := None
		if _, counted := l.Counts[Requests]; counted {
			sent = Number(l.followerRequests())
		}
		minutes := l.Minutes(l.Followers + 1)
		t.Add(result.Bed.Name, Number(float64(l.Leader.All())/l.Minutes(1)),
			Number(float64(l.Follower.All())/l.Minutes(l.Followers)),
			per(l.Counts, Requests, minutes), sent, per(l.Counts, WALBytes, minutes), per(l.Counts, FullPages, minutes),
			per(l.Counts, Connections, float64(l.Followers+1)))
	}
	t.Write(w)
}

func (r *Report) herdText() string {
	return fmt.Sprintf(`%d candidates of one election, in the place of %d processes; %d changes of leader. Numbers are
per change, and loads of stores that are polled include the polls that fall into it.`,
		r.Plan.Herd, r.Plan.Processes, r.Plan.Changes)
}

func (r *Report) writeHerd(w io.Writer) {
	t := &Table{Head: []string{
		"store", "accepted writes", "rejected writes", "rejected, worst", "loads", "requests at the server",
		"hand-over, in writes",
	}}
	for _, result := range r.Results {
		h := result.Herd
		if h == nil {
			continue
		}
		n := float64(h.Changes)
		t.Add(result.Bed.Name, Number(float64(h.Accepted)/n), Number(float64(h.Rejected)/n), fmt.Sprint(h.MostRejected),
			Number(float64(h.Loads)/n), per(h.Counts, Requests, n), pair(h.Gap, result.Renewal.Write.Median()))
	}
	t.Write(w)
}

const handOverText = `In percent of the time of all hand-overs. Push: from the sending of the release until the next
leader has seen it. Bid: that leader's write. Own: what remains, spent in the two candidates.`

func (r *Report) writeParts(w io.Writer) {
	t := &Table{Head: []string{"store", "candidates", "push", "bid", "own"}}
	for _, result := range r.Results {
		for _, h := range result.HandOver {
			share := func(s Series) string {
				if len(s) == 0 {
					return None
				}
				return Number(100 * Ratio(s.sum(), h.Push.sum()+h.Bid.sum()+h.Own.sum()))
			}
			t.Add(result.Bed.Name, fmt.Sprint(h.Candidates), share(h.Push), share(h.Bid), share(h.Own))
		}
	}
	t.Write(w)
}

func (r *Report) writersText() string {
	return fmt.Sprintf(`%d leaders of as many elections renew as fast as they can, in the place of %d processes that all
watch all elections; in turn with as many writers of bare values. Rates are medians of %d rounds.`,
		r.Plan.Leaders, min(r.Plan.Leaders, 10), r.Plan.WriteRounds)
}

func (r *Report) writeWriters(w io.Writer) {
	t := &Table{Head: []string{"store", "a renewal costs, in writes", "renewals a second", "bare writes a second"}}
	for _, result := range r.Results {
		if m := result.Writers; m != nil {
			t.Add(result.Bed.Name, Number(m.Ratio()), Number(middle(m.Renewals)), Number(middle(m.Writes)))
		}
	}
	t.Write(w)
}
