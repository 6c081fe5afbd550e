package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDemoRefusesWrongInput(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing", "timeline.html")
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--nodes", "0"}, "0 nodes: want 1 to"},
		{[]string{"--nodes", "1000"}, "1000 nodes: want 1 to"},
		{[]string{"--for", "0s"}, "a demo of 0s: want more"},
		{[]string{"--for", "-1s"}, "a demo of -1s: want more"},
		{[]string{"--ttl", "1ms"}, "TTL 1ms must be between"},
		{[]string{"--faults", "kill,explode"}, `there is no fault "explode" here: want some of kill,`},
		{[]string{"--nodes", "1", "--faults", "transfer"}, "a single node: want a fault besides transfer"},
		{[]string{"--store", "memory:"}, "processes cannot share a store in memory"},
		{[]string{"--store", "nowhere:"}, "the store's scheme \"nowhere:\" is unknown"},
		{[]string{"--html", missing}, "the timeline cannot be written: open " + missing},
		{[]string{"everything"}, "takes no argument"},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			var out bytes.Buffer
			err := exec(t.Context(), append([]string{"demo"}, test.args...), strings.NewReader(""), &out, &out)
			if err == nil || exitCode(err) != codeFailed || !strings.Contains(describe(err), test.want) {
				t.Errorf("got %q and exit code %d, want %q and %d", describe(err), exitCode(err), test.want, codeFailed)
			}
			if strings.Contains(describe(err), "\n") || out.Len() > 0 {
				t.Errorf("more than one line: %q, %q", describe(err), out.String())
			}
		})
	}
}

// TestRefusedDemoKeepsTheTimeline: what is refused has not emptied the file of an earlier demo.
func TestRefusedDemoKeepsTheTimeline(t *testing.T) {
	path := filepath.Join(t.TempDir(), "timeline.html")
	if err := os.WriteFile(path, []byte("earlier"), 0o600); err != nil {
		t.Fatal(err)
	}
	if o := call(t, "demo", "--store", "memory:", "--html", path); o.code != codeFailed {
		t.Errorf("got %+v", o)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "earlier" {
		t.Errorf("the file holds %q: %v", text, err)
	}
}

func TestDemoNodeIsForTheDemoAlone(t *testing.T) {
	var out bytes.Buffer
	err := exec(t.Context(), []string{"demo-node"}, strings.NewReader(""), &out, &out)
	if err == nil || !strings.Contains(describe(err), "try tenure demo") {
		t.Errorf("got %q", describe(err))
	}
}
