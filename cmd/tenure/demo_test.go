package main

import (
	"bytes"
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
		{[]string{"--store", "memory:"}, `processes cannot share a store of the scheme "memory:"`},
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

func TestDemoNodeIsForTheDemoAlone(t *testing.T) {
	var out bytes.Buffer
	err := exec(t.Context(), []string{"demo-node"}, strings.NewReader(""), &out, &out)
	if err == nil || !strings.Contains(describe(err), "try tenure demo") {
		t.Errorf("got %q", describe(err))
	}
}
