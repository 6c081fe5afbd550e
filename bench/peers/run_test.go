package peers_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure/bench"
	"github.com/tenure-go/tenure/bench/peers"
	"github.com/tenure-go/tenure/bench/peers/contenders"
	"github.com/tenure-go/tenure/internal/testserver"
)

// TestMain is a process that leads, if a run started it as such.
func TestMain(m *testing.M) {
	if done, err := contenders.Child(context.Background(), os.Args[1:], os.Stdin, os.Stdout); done {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// A run measures everything, and what is missing keeps nobody else from it. It takes real time: servers and processes
// are real.
func TestRun(t *testing.T) {
	missing := contenders.Redsync()
	missing.Needs = func() error { return errors.New("not there") }
	plan := peers.ShortPlan()
	plan.Lease, plan.Load, plan.HandOverFor = 3*time.Second, 500*time.Millisecond, time.Second
	var report *peers.Report
	err := bench.WithServers(t.Output(), func(tb testserver.TB) (err error) {
		measured := []peers.Peer{contenders.Redis(), contenders.Redislock(), missing}
		report, err = peers.Run(t.Context(), tb, measured, plan)
		return err
	})
	if errors.Is(err, bench.ErrSkipped) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Skipped) != 1 || !strings.Contains(report.Skipped[0], "not there") {
		t.Errorf("left out: %q", report.Skipped)
	}
	if len(report.Results) != 2 {
		t.Fatalf("%d were measured", len(report.Results))
	}
	for _, r := range report.Results {
		complete(t, r)
	}
}

func complete(t *testing.T, r *peers.Result) {
	t.Helper()
	if len(r.Problems) != 0 {
		t.Errorf("%s: %q", r.Peer.Name, r.Problems)
		return
	}
	switch h, l, f := r.HandOver, r.Load, r.FailOver; {
	case h == nil || len(h.Gap) == 0 || h.Gap.Percentile(0) <= 0 || h.Write.Median() <= 0 || h.Ping.Median() <= 0:
		t.Errorf("%s: hand-over %+v", r.Peer.Name, h)
	case len(r.Crowds) != 1 || r.Crowds[0].Candidates != 10 || len(r.Crowds[0].Gap) == 0:
		t.Errorf("%s: crowds %+v", r.Peer.Name, r.Crowds)
	case l == nil || l.For <= 0:
		t.Errorf("%s: load %+v", r.Peer.Name, l)
	case f == nil || len(f.Gap) != 1 || f.Gap[0] < r.Lease/2:
		t.Errorf("%s: fail-over %+v", r.Peer.Name, f)
	}
}
