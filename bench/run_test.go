package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/tenure-go/tenure/internal/testserver"
)

func TestRoundsTakeTurnsAndDropWhatFails(t *testing.T) {
	var order []string
	broken := errors.New("broken")
	var failure error
	named := func(name string, rounds, failAt int) trial {
		n := 0
		return trial{
			rounds: rounds,
			sample: func(context.Context) error {
				order = append(order, name)
				if n++; n == failAt {
					return broken
				}
				return nil
			},
			failed: func(err error) { failure = err },
		}
	}
	inRounds(t.Context(), []trial{named("a", 3, 0), named("b", 1, 0), named("c", 3, 2)})
	slices.Sort(order[:3])
	if got := strings.Join(order[:3], ""); got != "abc" {
		t.Errorf("the first round was %q", got)
	}
	count := map[string]int{}
	for _, name := range order {
		count[name]++
	}
	if count["a"] != 3 || count["b"] != 1 || count["c"] != 2 || !errors.Is(failure, broken) {
		t.Errorf("samples %v, failure %v", count, failure)
	}
}

func TestProgramEndsAsATestWould(t *testing.T) {
	var cleaned []string
	for what, end := range map[string]func(testserver.TB){
		"skipped": func(tb testserver.TB) { tb.Skipf("no %s", "server") },
		"failed":  func(tb testserver.TB) { tb.Fatalf("no %s", "server") },
	} {
		cleaned = nil
		err := WithServers(io.Discard, func(tb testserver.TB) error {
			tb.Cleanup(func() { cleaned = append(cleaned, "first") })
			tb.Cleanup(func() { cleaned = append(cleaned, "second"); tb.Fatalf("in a cleanup") })
			end(tb)
			return errors.New("went on")
		})
		if err == nil || !strings.HasSuffix(err.Error(), "no server") || errors.Is(err, ErrSkipped) != (what == "skipped") {
			t.Errorf("%s: the error is %v", what, err)
		}
		if got := fmt.Sprint(cleaned); got != "[second first]" {
			t.Errorf("%s: cleaned up %s", what, got)
		}
	}
}

func TestCounts(t *testing.T) {
	since := Counts{Requests: 30, Connections: 4}.Since(Counts{Requests: 10, Connections: 7})
	if since[Requests] != 20 || since[Connections] != 4 {
		t.Errorf("since then %v", since)
	}
	if per := since.Per(10); per[Requests] != 2 || per[Connections] != 4 {
		t.Errorf("per one %v", per)
	}
}

func TestPlans(t *testing.T) {
	for _, plan := range []Plan{FullPlan(), ShortPlan()} {
		if err := plan.Check(); err != nil {
			t.Error(err)
		}
	}
	for what, spoil := range map[string]func(*Plan){
		"no renewals": func(p *Plan) { p.Renewals = 0 }, "a herd of one": func(p *Plan) { p.Herd = 1 },
		"one candidate": func(p *Plan) { p.Candidates = []int{1} }, "no time": func(p *Plan) { p.Load = 0 },
	} {
		plan := ShortPlan()
		spoil(&plan)
		if plan.Check() == nil {
			t.Errorf("a plan with %s was accepted", what)
		}
	}
	if _, err := Stores([]Bed{{Name: "a"}, {Name: "b"}}).Find("c"); err == nil || !strings.Contains(err.Error(), "a, b") {
		t.Errorf("an unknown bed: %v", err)
	}
}
