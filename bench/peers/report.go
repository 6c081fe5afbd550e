package peers

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/tenure-go/tenure/bench"
)

// Report is what a run measured.
type Report struct {
	Plan    Plan
	Results []*Result
	Skipped []string
	Date    time.Time
	Took    time.Duration
	Machine string
	// Load is the machine's load average when the run ended, empty where it cannot be told.
	Load string
	// Versions are those of the modules, by path.
	Versions map[string]string
}

func newReport(plan Plan, results []*Result, skipped []string) *Report {
	return &Report{
		Plan: plan, Results: results, Skipped: skipped, Date: time.Now(), Machine: bench.Machine(), Load: loadAverage(),
		Versions: versions(),
	}
}

// versions returns those of the modules that this program was built from.
func versions() map[string]string {
	all := map[string]string{}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return all
	}
	for _, m := range info.Deps {
		if m.Replace != nil && m.Replace.Version != "" {
			m = m.Replace
		}
		all[m.Path] = m.Version
	}
	return all
}

// WriteMarkdown writes the tables, ratios first.
func (r *Report) WriteMarkdown(w io.Writer) {
	load := ""
	if r.Load != "" {
		load = " Its load averages at the end were " + r.Load + "."
	}
	fmt.Fprintf(w, "Measured on %s with %s, in %s, on %s.%s\n\n",
		r.Date.Format("2 January 2006"), runtime.Version(), r.Took.Round(time.Second), r.Machine, load)
	for _, section := range []struct {
		title, text string
		write       func(io.Writer)
	}{
		{"Hand-over, leases at defaults", handOverText, func(w io.Writer) { r.writeHandOvers(w, defaults) }},
		{"Hand-over, equal leases", r.equalText(), func(w io.Writer) { r.writeHandOvers(w, equal) }},
		{"Hand-over among many", r.crowdText(), r.writeCrowds},
		{"Fail-over", r.failOverText(), r.writeFailOvers},
		{"Requests at rest, leases at defaults", r.loadText(), func(w io.Writer) { r.writeLoads(w, defaults) }},
		{"Requests at rest, equal leases", r.equalText(), func(w io.Writer) { r.writeLoads(w, equal) }},
		{"Where another is ahead", behindText, r.writeBehind},
		{"Who was measured", "", r.writePeers},
	} {
		fmt.Fprintf(w, "### %s\n\n", section.title)
		if section.text != "" {
			fmt.Fprintf(w, "%s\n\n", section.text)
		}
		section.write(w)
	}
	r.writeProblems(w)
}

// defaults are results at the library's own lease, equal those at the lease that all share; whose lease is fixed is
// among both.
func defaults(r *Result) bool { return r.Default }

func equal(r *Result) bool { return !r.Default || r.Peer.Fixed }

// ours returns this project's result on the same kind of server and in the same column, nil if there is none.
func (r *Report) ours(of *Result, among func(*Result) bool) *Result {
	for _, other := range r.Results {
		if other.Peer.Ours && other.Peer.Arena.Name == of.Peer.Arena.Name && among(other) {
			return other
		}
	}
	return nil
}

const handOverText = `Three candidates. From the moment at which the leader is told to step down, in the library's own
way, to the start of the next one's lead. In multiples of ours on the same kind of server; in bare writes and bare round
trips to the contender's own server, made in between; medians. Then milliseconds, median / 99th percentile.`

func (r *Report) equalText() string {
	return fmt.Sprintf("The same, each with a lease of %v and all that follows from it in proportion.", r.Plan.Lease)
}

func (r *Report) writeHandOvers(w io.Writer, among func(*Result) bool) {
	t := &bench.Table{Head: []string{
		"contender", "server", "lease", "× ours", "bare writes", "bare round trips", "ms", "hand-overs",
	}}
	for _, result := range r.Results {
		h := result.HandOver
		if !among(result) || h == nil {
			continue
		}
		times := bench.None
		if ours := r.ours(result, among); ours != nil && ours.HandOver != nil {
			times = bench.Number(bench.Ratio(h.Gap.Median(), ours.HandOver.Gap.Median()))
		}
		t.Add(result.name(), result.Peer.Arena.Name, result.Lease.String(), times,
			bench.Number(bench.Ratio(h.Gap.Median(), h.Write.Median())),
			bench.Number(bench.Ratio(h.Gap.Median(), h.Ping.Median())),
			milliseconds(h.Gap.Median())+" / "+milliseconds(h.Gap.Percentile(99)), fmt.Sprint(len(h.Gap)))
	}
	t.Write(w)
}

// name sets ours apart.
func (r *Result) name() string {
	if r.Peer.Ours {
		return "**" + r.Peer.Name + "**"
	}
	return r.Peer.Name
}

func milliseconds(d time.Duration) string {
	return bench.Number(float64(d) / float64(time.Millisecond))
}

func (r *Report) crowdText() string {
	return fmt.Sprintf(`Equal leases; candidates in the place of %d processes at most. Milliseconds, median, and in
parentheses multiples of ours on the same kind of server.`, r.Plan.Processes)
}

func (r *Report) writeCrowds(w io.Writer) {
	t := &bench.Table{Head: []string{"contender", "server", "3"}}
	for _, n := range r.Plan.Crowds {
		t.Head = append(t.Head, fmt.Sprint(n))
	}
	for _, result := range r.Results {
		if !equal(result) {
			continue
		}
		cells := []string{result.name(), result.Peer.Arena.Name}
		ours := r.ours(result, equal)
		for _, n := range append([]int{three}, r.Plan.Crowds...) {
			cells = append(cells, besides(result.among(n), ours.among(n)))
		}
		t.Add(cells...)
	}
	t.Write(w)
}

// among returns the hand-overs among so many candidates, nil if there are none.
func (r *Result) among(n int) *HandOver {
	if r == nil {
		return nil
	}
	if n == three {
		return r.HandOver
	}
	for i := range r.Crowds {
		if r.Crowds[i].Candidates == n {
			return &r.Crowds[i]
		}
	}
	return nil
}

func besides(h, ours *HandOver) string {
	if h == nil || len(h.Gap) == 0 {
		return bench.None
	}
	text := milliseconds(h.Gap.Median())
	if ours != nil && len(ours.Gap) > 0 {
		text += " (" + bench.Number(bench.Ratio(h.Gap.Median(), ours.Gap.Median())) + ")"
	}
	return text
}

func (r *Report) failOverText() string {
	return fmt.Sprintf(`From kill -9 of the leading process to the start of the next leader's lead, two followers; %d
deaths each at equal leases, %d at defaults. In leases, median / worst, and seconds, median.`,
		r.Plan.Deaths, r.Plan.DefaultDeaths)
}

func (r *Report) writeFailOvers(w io.Writer) {
	t := &bench.Table{Head: []string{"contender", "server", "at default: leases", "s", "equal: leases", "s"}}
	var order []string
	rows := map[string][]string{}
	for _, result := range r.Results {
		name := result.Peer.Name
		if rows[name] == nil {
			order = append(order, name)
			rows[name] = []string{result.name(), result.Peer.Arena.Name, bench.None, bench.None, bench.None, bench.None}
		}
		if f := result.FailOver; f != nil && len(f.Gap) > 0 {
			column := 4
			if result.Default {
				column = 2
			}
			rows[name][column] = f.leases()
			rows[name][column+1] = bench.Number(f.Gap.Median().Seconds())
		}
	}
	for _, name := range order {
		t.Add(rows[name]...)
	}
	t.Write(w)
}

func (f *FailOver) leases() string {
	return bench.Number(bench.Ratio(f.Gap.Median(), f.Lease)) + " / " +
		bench.Number(bench.Ratio(f.Gap.Percentile(100), f.Lease))
}

func (r *Report) loadText() string {
	return fmt.Sprintf(`What a leader alone, and what each of %d followers adds, each with connections of its own,
counted for %v. Requests are commands, statements, messages or HTTP requests that the server had from clients; writes
are changes to its data. All are per candidate-minute; ten candidates are a leader and nine followers, as a multiple of
ours on the same kind of server.`, r.Plan.Followers, r.Plan.Load)
}

func (r *Report) writeLoads(w io.Writer, among func(*Result) bool) {
	t := &bench.Table{Head: []string{
		"contender", "server", "lease", "ten, × ours", "leader: requests", "follower: requests", "leader: writes",
		"follower: writes",
	}}
	for _, result := range r.Results {
		l := result.Load
		if !among(result) || l == nil {
			continue
		}
		times := bench.None
		if ours := r.ours(result, among); ours != nil && ours.Load != nil {
			times = bench.Number(l.ten() / ours.Load.ten())
		}
		t.Add(result.name(), result.Peer.Arena.Name, result.Lease.String(), times,
			bench.Number(l.Leader[bench.Requests]), bench.Number(l.Follower[bench.Requests]),
			bench.Number(l.Leader[Writes]), bench.Number(l.Follower[Writes]))
	}
	t.Write(w)
}

// ten is what a leader and nine followers send in a minute.
func (l *Load) ten() float64 { return l.Leader[bench.Requests] + 9*l.Follower[bench.Requests] }

func (r *Report) writePeers(w io.Writer) {
	t := &bench.Table{Head: []string{"contender", "version", "server", "how"}}
	seen := map[string]bool{}
	for _, result := range r.Results {
		if seen[result.Peer.Name] {
			continue
		}
		seen[result.Peer.Name] = true
		version := result.Peer.Module
		if v := r.Versions[version]; v != "" && v != "(devel)" {
			version += " " + v
		}
		if result.Peer.Ours {
			version = "as in this repository"
		}
		t.Add(result.name(), version, result.Server, result.Peer.About)
	}
	t.Write(w)
}

func (r *Report) writeProblems(w io.Writer) {
	for _, result := range r.Results {
		for _, problem := range result.Problems {
			fmt.Fprintf(w, "- %s, lease %v: %s\n", result.Peer.Name, result.Lease, problem)
		}
	}
	for _, skipped := range r.Skipped {
		fmt.Fprintf(w, "- left out: %s\n", skipped)
	}
}
