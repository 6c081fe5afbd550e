package demo

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure/cmd/tenure/internal/guard"
)

// timelineOf returns the page for spans in a demo of ten seconds.
func timelineOf(t *testing.T, spans ...Trust) string {
	t.Helper()
	const second = guard.Instant(time.Second)
	r := &Result{
		Summary: Summary{Nodes: 2, TTL: time.Second, Lasted: 10 * time.Second, Findings: Check(spans)},
		began:   100 * second, spans: spans,
		lanes: []lane{{"b", []stretch{{alive, 100 * second, 0}, {frozen, 102 * second, 103 * second}}}, {"c", nil}},
		events: []Event{
			{At: 2 * time.Second, What: "freeze", Node: "b", Token: 1, Outcome: "→ c leads with <token> 2"},
			{At: 6 * time.Second, What: "resume", Outcome: "→ c leads", Leader: "c"},
		},
	}
	var out strings.Builder
	if err := r.WriteTimeline(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestTimelineShowsTermsAndFaults(t *testing.T) {
	const second = guard.Instant(time.Second)
	page := timelineOf(t, trusted(1, 1, 101*second, 102*second), trusted(2, 2, 103*second, 106*second))
	for _, want := range []string{
		"No two leaders at once",
		`class="trust" style="left:10.0000%;width:10.0000%;--hue:138"`,
		`class="trust" style="left:30.0000%;width:30.0000%;--hue:275"`,
		`class="alive" style="left:0.0000%;width:100.0000%"`,
		`class="frozen" style="left:20.0000%;width:10.0000%"`,
		`class="mark freeze" style="left:20.0000%"`,
		`class="mark ask" style="left:60.0000%"`,
		"c leads with &lt;token&gt; 2",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, `class="overlap`) || strings.Contains(page, "ZgotmplZ") {
		t.Error("the page shows an overlap, or the template refused a value")
	}
}

func TestTimelineShowsOverlaps(t *testing.T) {
	const second = guard.Instant(time.Second)
	page := timelineOf(t, trusted(1, 1, 101*second, 105*second), trusted(2, 2, 103*second, 106*second))
	if !strings.Contains(page, "Two leaders at once") {
		t.Error("the title does not tell")
	}
	// The leader's lane and those of both nodes mark it, and every lane is shaded.
	hits := strings.Count(page, `class="overlap hit" style="left:30.0000%;width:20.0000%"`)
	shades := strings.Count(page, `class="overlap" style="left:30.0000%;width:20.0000%"`)
	if hits != 3 || shades != 3 {
		t.Errorf("%d marks and %d shades, want 3 and 3", hits, shades)
	}
}

func TestTimelineNeedsNothingElse(t *testing.T) {
	if found := regexp.MustCompile(`(?i)(src|href)\s*=|url\(|@import|<script`).FindString(timelineOf(t)); found != "" {
		t.Errorf("the page refers to something else: %q", found)
	}
}

func TestTicksAreReadable(t *testing.T) {
	for _, lasted := range []time.Duration{
		300 * time.Millisecond, 3 * time.Second, 30 * time.Second, 2 * time.Minute, time.Hour,
	} {
		r := Result{Summary: Summary{TTL: 2 * time.Second, Lasted: lasted}}
		if n := len(r.ticks()) - 1; n < 3 || r.width()/n < 50 {
			t.Errorf("%d ticks for %v in %d pixels", n, lasted, r.width())
		}
	}
}
