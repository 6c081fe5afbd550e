package dualleader

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure/bench"
	"github.com/tenure-go/tenure/bench/plot"
)

// Peers are all libraries that can be put over a server in a bubble, ours first.
func Peers() []*Peer {
	return []*Peer{
		Tenure(), ClientGo(), ClientGoReleasing(), Etcd(), Redsync(), Redislock(), NATSLeaderElection(), PGLock(),
	}
}

// Result is what all histories of one library with one fault showed.
type Result struct {
	// Histories is how many there were in which somebody led when the fault began; Dual is in how many of them two
	// processes led at once.
	Histories, Dual int
	// Worst is the longest overlap of one history; Total is that of all together.
	Worst, Total time.Duration
}

func (r *Result) add(o Outcome) {
	if !o.Struck {
		return
	}
	r.Histories++
	r.Worst = max(r.Worst, o.Worst)
	r.Total += o.Total
	if o.Dual() {
		r.Dual++
	}
}

// Report is what a run showed.
type Report struct {
	Histories int
	Results   map[string]map[string]*Result // by the name of the library and the ID of the fault
	Costs     []Cost
	Date      time.Time
	Took      time.Duration
}

// Run plays so many histories of every library with every fault that befalls it, the libraries beside each other.
func Run(t *testing.T, histories int) *Report {
	t.Helper()
	r := &Report{Histories: histories, Results: map[string]map[string]*Result{}, Date: time.Now()}
	for _, p := range Peers() {
		r.Results[p.Name] = map[string]*Result{}
		for _, f := range Faults() {
			if f.Befalls(p) {
				r.Results[p.Name][f.ID] = &Result{}
			}
		}
	}
	t.Run("libraries", func(t *testing.T) {
		for _, p := range Peers() {
			t.Run(p.Name, func(t *testing.T) {
				t.Parallel()
				for _, f := range Faults() {
					if result := r.Results[p.Name][f.ID]; result != nil {
						result.play(t, p, f, histories)
					}
				}
			})
		}
	})
	r.Took = time.Since(r.Date)
	return r
}

func (r *Result) play(t *testing.T, p *Peer, f *Fault, histories int) {
	t.Helper()
	for seed := range uint64(histories) {
		r.add(Play(t, p, f, seed))
	}
}

// Command is what writes the tables into the document.
const Command = "make bench-dual"

// Write puts the tables into a document, in the place of those of an earlier run, and draws the figure into a
// directory.
func (r *Report) Write(document, figures string) error {
	if err := r.Figure().Write(figures, "overlap"); err != nil {
		return err
	}
	return bench.WriteDocument(document, Command, r.WriteMarkdown)
}

// WriteMarkdown writes the tables.
func (r *Report) WriteMarkdown(w io.Writer) {
	fmt.Fprintf(w, "Played on %s with %s, in %s, on %s.\n\n",
		r.Date.Format("2 January 2006"), runtime.Version(), r.Took.Round(time.Second), bench.Machine())
	fmt.Fprintf(w, "### Histories with two leaders at once, of %d\n\n", r.Histories)
	fmt.Fprint(w, "![A table of bars: for each fault and each library, in how many histories two processes led at once]"+
		"(benchmarks/overlap.svg)\n\n")
	r.table(w, within, func(result *Result, _ *Peer) string {
		if result.Dual == 0 {
			return "0"
		}
		return fmt.Sprintf("**%d**", result.Dual)
	})
	fmt.Fprint(w, "### How long they overlapped\n\nIn leases: the longest overlap / the mean of all histories.\n\n")
	r.table(w, within, overlap)
	fmt.Fprintf(w, "### Beyond the promise\n\n%s\n\n", beyondText)
	r.table(w, func(f *Fault) bool { return f.Beyond != "" }, func(result *Result, p *Peer) string {
		return fmt.Sprintf("%d: %s", result.Dual, overlap(result, p))
	})
	r.writeReasons(w)
	r.writeCosts(w)
	r.writePeers(w)
}

const beyondText = `Here no lease keeps two leaders apart; a fencing token that the resource checks does. Histories
with two leaders at once: longest overlap / mean, in leases.`

func within(f *Fault) bool { return f.Beyond == "" }

func overlap(r *Result, p *Peer) string {
	if r.Dual == 0 {
		return "0"
	}
	mean := r.Total / time.Duration(r.Histories)
	return bench.Number(bench.Ratio(r.Worst, p.Lease)) + " / " + bench.Number(bench.Ratio(mean, p.Lease))
}

// table has a row for each fault and a column for each library.
func (r *Report) table(w io.Writer, among func(*Fault) bool, cell func(*Result, *Peer) string) {
	t := bench.Table{Head: []string{"fault"}}
	for _, p := range Peers() {
		t.Head = append(t.Head, p.Name)
	}
	for _, f := range Faults() {
		if !among(f) {
			continue
		}
		cells := []string{f.Name}
		for _, p := range Peers() {
			text := bench.None
			if result := r.Results[p.Name][f.ID]; result != nil {
				text = cell(result, p)
				if result.Histories < r.Histories {
					text += fmt.Sprintf(" (of %d)", result.Histories)
				}
			}
			cells = append(cells, text)
		}
		t.Add(cells...)
	}
	t.Write(w)
}

func (r *Report) writeReasons(w io.Writer) {
	fmt.Fprint(w, "### Where the overlaps come from\n\n")
	for _, p := range Peers() {
		fmt.Fprintf(w, "- %s: %s.\n", p.Name, p.Why)
	}
	fmt.Fprint(w, "\nWhere ours overlaps, beyond the promise:\n\n")
	for _, f := range Faults() {
		if f.Beyond != "" {
			fmt.Fprintf(w, "- %s: %s.\n", f.Name, f.Beyond)
		}
	}
	fmt.Fprintln(w)
}

func (r *Report) writePeers(w io.Writer) {
	fmt.Fprint(w, "### Who took part\n\n")
	required := versions()
	t := bench.Table{Head: []string{"library", "module", "version", "lease", "what says that it leads"}}
	for _, p := range Peers() {
		version := required[p.Module]
		if version == "" || version == "v0.0.0" {
			version = "this commit"
		}
		t.Add(p.Name, "`"+p.Module+"`", version, p.Lease.String(), p.Asked)
	}
	t.Write(w)
}

var requirement = regexp.MustCompile(`(?m)^\t(\S+) (v\S+)`)

// versions are those that this module requires. A test runs in its package's directory, where go.mod is.
func versions() map[string]string {
	required := map[string]string{}
	text, err := os.ReadFile("go.mod")
	if err != nil {
		return required
	}
	for _, match := range requirement.FindAllStringSubmatch(string(text), -1) {
		required[match[1]] = match[2]
	}
	return required
}

// Figure shows in how many histories two processes led at once.
func (r *Report) Figure() *plot.Figure {
	f := &plot.Figure{
		Title: "Histories with two leaders at once", Kind: plot.Cells,
		Note: fmt.Sprintf("Of %d for each fault and library. The last faults are beyond what anybody's lease can keep "+
			"apart. A dash: the fault cannot be put upon this library here.", r.Histories),
		Y: plot.Axis{Max: float64(r.Histories)},
	}
	for _, p := range Peers() {
		s := plot.Series{Name: short(p.Name), Ours: p.Can&OwnClock != 0}
		for _, fault := range Faults() {
			if result := r.Results[p.Name][fault.ID]; result != nil {
				s.Points = append(s.Points, plot.Point{Label: fault.Name, Y: float64(result.Dual)})
			}
		}
		f.Series = append(f.Series, s)
	}
	return f
}

// short makes a name fit over a column.
func short(name string) string {
	return strings.NewReplacer(
		"NATS-Leader-Election", "NATS- Leader- El.", "ReleaseOnCancel", "release", " concurrency", "",
	).Replace(name)
}
