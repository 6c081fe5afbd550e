package bench_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/tenure-go/tenure/bench"
	"github.com/tenure-go/tenure/bench/beds"
	"github.com/tenure-go/tenure/internal/testserver"
)

// TestMain is a process that leads, if a run started it as such.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == bench.LeadCommand {
		if err := bench.Lead(context.Background(), beds.All(), os.Args[2:], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// smoke measures beds as shortly as can be, and returns what was measured. It takes real time: servers and processes
// are real.
func smoke(t *testing.T, measured ...bench.Bed) *bench.Report {
	t.Helper()
	plan := bench.ShortPlan()
	plan.TTL, plan.Load = 3*time.Second, 50*time.Millisecond
	var report *bench.Report
	err := bench.WithServers(t.Output(), func(tb testserver.TB) (err error) {
		report, err = bench.Run(t.Context(), tb, measured, plan)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestShortRun(t *testing.T) {
	report := smoke(t, beds.Memory(), beds.File())
	if len(report.Results) != 2 {
		t.Fatalf("%d stores were measured; not measured: %q", len(report.Results), report.Skipped)
	}
	for _, r := range report.Results {
		complete(t, r)
	}
	if report.Results[0].FailOver != nil {
		t.Error("a process died that holds a store in the memory of another")
	}
}

// complete checks that everything was measured, and nothing that could not be.
func complete(t *testing.T, r *bench.Result) {
	t.Helper()
	if len(r.Problems) != 0 {
		t.Errorf("%s: %q", r.Bed.Name, r.Problems)
		return
	}
	switch h := r.HandOver; {
	case r.Renewal.Renewal.Median() <= 0 || r.Renewal.Write.Median() <= 0 || r.Renewal.Ping.Median() <= 0:
		t.Errorf("%s: renewals %+v", r.Bed.Name, r.Renewal)
	case len(h) != 1 || len(h[0].Gap) == 0 || h[0].Gap.Percentile(0) <= 0:
		t.Errorf("%s: hand-overs %+v", r.Bed.Name, h)
	case r.Herd == nil || r.Herd.Accepted < 2*r.Herd.Changes || r.Herd.Failed > 0:
		t.Errorf("%s: herd %+v", r.Bed.Name, r.Herd)
	case r.Load == nil || r.Writers == nil || r.Writers.Ratio() <= 0:
		t.Errorf("%s: load %+v, writers %+v", r.Bed.Name, r.Load, r.Writers)
	case r.Bed.Open != nil && (r.FailOver == nil || len(r.FailOver.Gap) != 1 || r.FailOver.Gap[0] <= 0):
		t.Errorf("%s: fail-over %+v", r.Bed.Name, r.FailOver)
	}
}
