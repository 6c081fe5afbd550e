package parity

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"go.yaml.in/yaml/v3"

	"github.com/tenure-go/tenure/internal/testserver"
)

const (
	dashboardFile = "../../../deploy/grafana/tenure.json"
	rulesFile     = "../../../deploy/prometheus/tenure.rules.yml"
)

// ruleFile is what Prometheus reads. Fields that are not here are refused.
type ruleFile struct {
	Groups []struct {
		Name  string `yaml:"name"`
		Rules []struct {
			Alert       string            `yaml:"alert"`
			Expr        string            `yaml:"expr"`
			For         string            `yaml:"for"`
			Labels      map[string]string `yaml:"labels"`
			Annotations map[string]string `yaml:"annotations"`
		} `yaml:"rules"`
	} `yaml:"groups"`
}

func rules(t *testing.T) ruleFile {
	t.Helper()
	text, err := os.ReadFile(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	var f ruleFile
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&f); err != nil {
		t.Fatal(err)
	}
	return f
}

// board is what is checked of a dashboard.
type board struct {
	UID        string `json:"uid"`
	Title      string `json:"title"`
	Templating struct {
		List []struct {
			Name       string `json:"name"`
			Definition string `json:"definition"`
		} `json:"list"`
	} `json:"templating"`
	Annotations struct {
		List []struct {
			Expr string `json:"expr"`
		} `json:"list"`
	} `json:"annotations"`
	Panels []struct {
		ID          int    `json:"id"`
		Type        string `json:"type"`
		Title       string `json:"title"`
		Description string `json:"description"`
		GridPos     struct{ X, Y, W, H int }
		Targets     []struct {
			Expr         string `json:"expr"`
			LegendFormat string `json:"legendFormat"`
			RefID        string `json:"refId"`
		} `json:"targets"`
	} `json:"panels"`
}

func dashboard(t *testing.T) board {
	t.Helper()
	text, err := os.ReadFile(dashboardFile)
	if err != nil {
		t.Fatal(err)
	}
	var b board
	if err := json.Unmarshal(text, &b); err != nil {
		t.Fatal(err)
	}
	return b
}

// expression is PromQL, and where it stands.
type expression struct{ where, text string }

// expressions are all of them, of the alerts and of the dashboard.
func expressions(t *testing.T) (alerts, panels []expression) {
	t.Helper()
	for _, group := range rules(t).Groups {
		for _, rule := range group.Rules {
			alerts = append(alerts, expression{"alert " + rule.Alert, rule.Expr})
		}
	}
	b := dashboard(t)
	for _, panel := range b.Panels {
		for _, target := range panel.Targets {
			panels = append(panels, expression{"panel " + panel.Title, target.Expr})
		}
	}
	for _, a := range b.Annotations.List {
		panels = append(panels, expression{"annotation", a.Expr})
	}
	return alerts, panels
}

var (
	metricName = regexp.MustCompile(`tenure_[a-z_]+`)
	grouping   = regexp.MustCompile(`\b(?:by|on|without|ignoring)\s*\(([^)]*)\)`)
	matchers   = regexp.MustCompile(`(tenure_[a-z_]+)\{([^}]*)\}`)
	matcher    = regexp.MustCompile(`([a-z_]+)\s*=~?\s*"([^"]*)"`)
	legend     = regexp.MustCompile(`\{\{\s*(\w+)\s*\}\}`)
)

// ofScraping are labels that everything gets by being scraped, or by being a histogram.
var ofScraping = []string{"job", "instance", "le"}

// resolve finds the metric of which a name in an expression is a part.
func resolve(metrics map[string]family, name string) (string, bool) {
	if _, ok := metrics[name]; ok {
		return name, metrics[name].kind != dto.MetricType_HISTOGRAM // of which there are only parts
	}
	for _, part := range []string{"_bucket", "_sum", "_count"} {
		if base, found := strings.CutSuffix(name, part); found && metrics[base].kind == dto.MetricType_HISTOGRAM {
			return base, true
		}
	}
	return "", false
}

// Every metric, label and value that an alert or the dashboard asks for exists in both adapters, and every metric is
// shown.
func TestDeployedMetricsExist(t *testing.T) {
	byPrometheus, byOTel := measured(t)
	alerts, panels := expressions(t)
	if len(alerts) < 5 || len(panels) < 15 {
		t.Fatalf("only %d alerts and %d panels were found", len(alerts), len(panels))
	}
	shown := map[string]bool{}
	for _, e := range slices.Concat(alerts, panels) {
		used := metricName.FindAllString(e.text, -1)
		if len(used) == 0 {
			t.Errorf("%s: %q asks for no metric", e.where, e.text)
		}
		var labels []string
		for _, name := range used {
			base, ok := resolve(byPrometheus, name)
			if _, there := resolve(byOTel, name); !ok || !there {
				t.Errorf("%s asks for %s, which is in Prometheus: %v, in OpenTelemetry: %v", e.where, name, ok, there)
				continue
			}
			labels = append(labels, byPrometheus[base].labels...)
			shown[base] = shown[base] || slices.Contains(panels, e)
		}
		checkLabels(t, e, append(labels, ofScraping...))
		checkMatchers(t, e, byPrometheus)
	}
	for name := range byPrometheus {
		if !shown[name] {
			t.Errorf("the dashboard does not show %s", name)
		}
	}
}

func checkLabels(t *testing.T, e expression, known []string) {
	t.Helper()
	for _, group := range grouping.FindAllStringSubmatch(e.text, -1) {
		for label := range strings.SplitSeq(group[1], ",") {
			if !slices.Contains(known, strings.TrimSpace(label)) {
				t.Errorf("%s groups by %q, but there is only %q", e.where, label, known)
			}
		}
	}
}

// checkMatchers checks the labels within braces, and their values where they are from a short list.
func checkMatchers(t *testing.T, e expression, metrics map[string]family) {
	t.Helper()
	for _, m := range matchers.FindAllStringSubmatch(e.text, -1) {
		base, _ := resolve(metrics, m[1])
		for _, pair := range matcher.FindAllStringSubmatch(m[2], -1) {
			label, pattern := pair[1], pair[2]
			if !slices.Contains(append(metrics[base].labels, ofScraping...), label) {
				t.Errorf("%s asks for %s with the label %s, which has only %q", e.where, m[1], label, metrics[base].labels)
			}
			if strings.HasPrefix(pattern, "$") {
				continue
			}
			for value := range strings.SplitSeq(pattern, "|") {
				if !hasValue(metrics[base], label, value) {
					t.Errorf("%s asks for %s with %s=%q, which it never has", e.where, m[1], label, value)
				}
			}
		}
	}
}

func hasValue(f family, label, value string) bool {
	for series := range f.series {
		if slices.Contains(strings.Split(series, ","), label+"="+value) {
			return true
		}
	}
	return false
}

// The alerts say what they are about, and the dashboard can be laid out.
func TestDeployedFilesAreWhole(t *testing.T) {
	severities := []string{"critical", "warning", "info"}
	names := map[string]bool{}
	for _, group := range rules(t).Groups {
		for _, r := range group.Rules {
			if names[r.Alert] || !strings.HasPrefix(r.Alert, "Tenure") || !slices.Contains(severities, r.Labels["severity"]) ||
				r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
				t.Errorf("%+v is incomplete", r)
			}
			names[r.Alert] = true
		}
	}
	b := dashboard(t)
	cells, ids := map[[2]int]string{}, map[int]bool{}
	for _, p := range b.Panels {
		if ids[p.ID] || p.Title == "" || p.Type != "row" && (p.Description == "" || len(p.Targets) == 0) {
			t.Errorf("%+v is incomplete", p)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := cells[[2]int{x, y}]; other != "" || x >= 24 {
					t.Fatalf("%s lies on %s, or outside", p.Title, other)
				}
				cells[[2]int{x, y}] = p.Title
			}
		}
		for _, target := range p.Targets {
			for _, label := range legend.FindAllStringSubmatch(target.LegendFormat, -1) {
				if !strings.Contains(fmt.Sprint(grouping.FindAllStringSubmatch(target.Expr, -1)), label[1]) {
					t.Errorf("%s names %s in its legend, but does not group by it", p.Title, label[1])
				}
			}
		}
	}
	if len(cells) == 0 || b.UID == "" || b.Title == "" {
		t.Error("the dashboard is empty")
	}
}

// promtool is Prometheus' own checker. Nothing of it can be had as a library that would not move the versions of half the
// modules of the workspace.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	program := testserver.Find(t, "promtool")
	if out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func TestAlertsFireWhenTheyShould(t *testing.T) {
	promtool(t, "check", "rules", rulesFile)
	promtool(t, "test", "rules", strings.TrimSuffix(rulesFile, ".yml")+".test.yml")
}

// The dashboard's expressions are PromQL: as rules, promtool parses them.
func TestPanelsParse(t *testing.T) {
	variables := strings.NewReplacer("$__rate_interval", "5m", "$__range", "6h", "$job", "j", "$election", "e")
	type rule struct {
		Record string `yaml:"record"`
		Expr   string `yaml:"expr"`
	}
	var all []rule
	_, panels := expressions(t)
	for i, e := range panels {
		all = append(all, rule{fmt.Sprintf("panel:%d", i), variables.Replace(e.text)})
		if strings.Contains(all[i].Expr, "$") {
			t.Errorf("%s has a variable that is not known: %s", e.where, e.text)
		}
	}
	text, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "panels", "rules": all}}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "panels.yml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "check", "rules", path)
}
