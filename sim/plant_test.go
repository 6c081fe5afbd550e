package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// plantedBug is a change of the source that must be caught.
type plantedBug struct {
	name  string
	rules string // that must catch it, each of them
	file  string // relative to internal/protocol
	edits []edit
	more  []patch // of other files
}

type patch struct {
	file  string
	edits []edit
}

// edit replaces a text that must occur once.
type edit struct{ old, new string }

// The most histories that a bug may take to be caught.
const plantedHistories = 20_000

// TestPlantedBugs builds the simulator once with each of the planted bugs, by the compiler's overlay, and expects that
// the rules named are found to be broken.
func TestPlantedBugs(t *testing.T) {
	protocol, err := filepath.Abs("../internal/protocol")
	if err != nil {
		t.Fatal(err)
	}
	slots := make(chan struct{}, 2)
	for i, bug := range planted {
		t.Run(strings.ReplaceAll(bug.name, " ", "-"), func(t *testing.T) {
			if testing.Short() && i%6 != 0 {
				t.Skip("left to make test-all: five of six planted bugs, which are compiled each")
			}
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			bug.mustBeCaught(t, protocol)
		})
	}
}

// Every planted bug still fits the source. This is quick, so that a change finds out at once which of them it has to adapt.
func TestPlantedBugsFitTheSource(t *testing.T) {
	for _, bug := range planted {
		t.Run(strings.ReplaceAll(bug.name, " ", "-"), func(t *testing.T) {
			for _, p := range bug.patches() {
				p.apply(t, filepath.Join("../internal/protocol", p.file))
			}
		})
	}
}

func (b *plantedBug) patches() []patch { return append([]patch{{b.file, b.edits}}, b.more...) }

func (b *plantedBug) mustBeCaught(t *testing.T, protocol string) {
	dir := t.TempDir()
	overlay := map[string]string{}
	for i, p := range b.patches() {
		file := filepath.Join(protocol, p.file)
		changed := filepath.Join(dir, fmt.Sprint(i, ".go"))
		if err := os.WriteFile(changed, p.apply(t, file), 0o600); err != nil {
			t.Fatal(err)
		}
		overlay[file] = changed
	}
	binary := build(t, dir, overlay)
	// A bug may make a history go on for ever.
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, binary, "-expect", b.rules, "-seed", "1",
		"-histories", fmt.Sprint(plantedHistories), "-workers", "1", "-for", "90s")
	out, err := run.CombinedOutput()
	if err != nil {
		t.Errorf("not caught by %s within %d histories: %v\n%s", b.rules, plantedHistories, err, out)
		return
	}
	t.Logf("%s", out)
}

// apply returns the file with the edits made.
func (p *patch) apply(t *testing.T, file string) []byte {
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(source)
	for _, e := range p.edits {
		if n := strings.Count(text, e.old); n != 1 {
			t.Fatalf("%s has the text to be changed %d times, not once: adapt the planted bug\n%s", p.file, n, e.old)
		}
		text = strings.Replace(text, e.old, e.new, 1)
	}
	return []byte(text)
}

func build(t *testing.T, dir string, overlay map[string]string) string {
	list, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	file, binary := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "tenure-sim")
	if err := os.WriteFile(file, list, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-overlay", file, "-o", binary, "./cmd/tenure-sim")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the planted bug does not compile: %v\n%s", err, out)
	}
	return binary
}

// The table in README.md names exactly the bugs that are planted, and the rules that catch them.
func TestReadmeListsThePlantedBugs(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "| Planted bug | Found by |\n|---|---|\n")
	table, _, _ := strings.Cut(rest, "\n\n")
	var want strings.Builder
	for _, b := range planted {
		fmt.Fprintf(&want, "| %s | %s |\n", b.name, strings.ReplaceAll(b.rules, ",", ", "))
	}
	if table+"\n" != want.String() {
		t.Errorf("the table in README.md should be\n%s", want.String())
	}
}
