package tenureprom_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/adapters/internal/measure/measuretest"
	tenureprom "github.com/tenure-go/tenure/adapters/prometheus"
	"github.com/tenure-go/tenure/memory"
	"github.com/tenure-go/tenure/tenuretest"
)

var update = flag.Bool("update", false, "write testdata anew")

const (
	ttl  = measuretest.TTL
	name = measuretest.Election
)

// start has a measured candidate stand.
func start(t *testing.T, m *tenureprom.Metrics, store tenure.Store, id string, options ...tenure.Option) *tenure.Candidate {
	t.Helper()
	c := measuretest.Start(t, m, store, id, options...)
	synctest.Wait()
	return c
}

func stop(t *testing.T, c *tenure.Candidate) {
	t.Helper()
	measuretest.Stop(t, c)
	synctest.Wait()
}

// exposition is what a scrape gets.
func exposition(t *testing.T, registry *prometheus.Registry) string {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	encoder := expfmt.NewEncoder(&text, expfmt.NewFormat(expfmt.TypeTextPlain).WithEscapingScheme(model.NoEscaping))
	for _, family := range families {
		if err := encoder.Encode(family); err != nil {
			t.Fatal(err)
		}
	}
	return text.String()
}

// A story of real candidates, told by the exposition to the last byte: a leader renews once and is cut off, another
// takes over from it, resigns in favour of the first, and both are there in the end.
func TestExposition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := memory.New()
		m, registry := tenureprom.New(), prometheus.NewRegistry()
		registry.MustRegister(m)
		store := measuretest.Polled(inner)
		a := start(t, m, store, "a", tenure.WithRenewInterval(ttl/4))
		b := start(t, m, inner, "b", tenure.WithRenewInterval(ttl/4))
		time.Sleep(ttl / 4)
		store.Inject(tenuretest.LoseRequest())
		time.Sleep(2 * ttl)
		store.Heal()
		time.Sleep(ttl / 2)
		if err := b.Resign(context.Background()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(ttl/5 + 100*time.Millisecond) // a poll later, but no renewal yet
		// What hangs on the random spread of timers: how often b renewed and when it was polled.
		got := steady(exposition(t, registry))
		if *update {
			if err := os.WriteFile("testdata/exposition.txt", []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile("testdata/exposition.txt")
		if err != nil {
			t.Fatal(err)
		}
		diff(t, got, string(want))
		stop(t, a)
		stop(t, b)
		inner.Close()
	})
}

// steady replaces the values that hang on the random spread of timers.
func steady(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "tenure_store_errors_total") && strings.HasSuffix(line, " 0\n") {
			out.WriteString(line) // how many there were is not steady, but that there were some is
			continue
		}
		for _, name := range []string{
			"tenure_store_call_duration_seconds", "tenure_safety_margin_ratio_sum", "tenure_handover_duration_seconds_sum",
			`tenure_store_errors_total{candidate="a",election="billing",kind="unknown"}`,
			`tenure_lease_remaining_seconds{candidate="a"`, `tenure_handover_duration_seconds_bucket{after="release"`,
			`tenure_renewal_duration_seconds_bucket{candidate="b"`, `tenure_renewal_duration_seconds_count{candidate="b"`,
			`tenure_safety_margin_ratio_bucket{candidate="b"`, `tenure_safety_margin_ratio_count{candidate="b"`,
		} {
			if strings.HasPrefix(line, name) {
				line = line[:strings.LastIndexByte(line, ' ')] + " …\n"
			}
		}
		out.WriteString(line)
	}
	return out.String()
}

func diff(t *testing.T, got, want string) {
	t.Helper()
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	if len(a) != len(b) {
		t.Errorf("%d lines, want %d", len(a), len(b))
	}
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Errorf("line %d is\n\t%s\nwant\n\t%s", i+1, a[i], b[i])
		}
	}
}

// Names, units and help keep the conventions of Prometheus.
func TestConventions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := memory.New()
		m, registry := tenureprom.New(), prometheus.NewPedanticRegistry()
		registry.MustRegister(m)
		a := start(t, m, inner, "a")
		stop(t, a)
		problems, err := testutil.GatherAndLint(registry)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range problems {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
		inner.Close()
	})
}

func TestRemoveDropsSeries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := memory.New()
		m, registry := tenureprom.New(), prometheus.NewPedanticRegistry()
		registry.MustRegister(m)
		a, b := start(t, m, inner, "a"), start(t, m, inner, "b")
		if err := m.Add(a); !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("a second Add: %v", err)
		}
		m.Remove(a)
		stop(t, a)
		text := exposition(t, registry)
		if strings.Contains(text, `candidate="a"`) || !strings.Contains(text, `tenure_leader{candidate="b",election="billing"} 1`) {
			t.Errorf("after a was removed and b has taken over:\n%s", text)
		}
		m.Remove(b)
		stop(t, b)
		if text := exposition(t, registry); strings.Contains(text, "election=") {
			t.Errorf("after all were removed:\n%s", text)
		}
		inner.Close()
	})
}

// Many candidates come, lead and go while scrapes run; every scrape is consistent.
func TestScrapesWhileCandidatesComeAndGo(t *testing.T) {
	store := memory.New()
	defer store.Close()
	m, registry := tenureprom.New(), prometheus.NewPedanticRegistry()
	registry.MustRegister(m)
	var all sync.WaitGroup
	for _, election := range []string{"one", "two", "three", "four"} {
		all.Go(func() {
			for range 20 {
				c, err := tenure.New(m.Store(store), election, m.Observe())
				if err != nil {
					t.Error(err)
					return
				}
				if err := m.Add(c); err != nil {
					t.Error(err)
				}
				if _, err := c.TryAcquire(context.Background()); err != nil {
					t.Error(err)
				}
				c.Idle()
				stop := c.Stop(context.Background())
				m.Remove(c)
				if stop != nil {
					t.Error(stop)
				}
			}
		})
	}
	for range 50 {
		if _, err := registry.Gather(); err != nil {
			t.Error(err)
		}
	}
	all.Wait()
	if text := exposition(t, registry); strings.Contains(text, "election=") {
		t.Errorf("series are left:\n%s", text)
	}
}
