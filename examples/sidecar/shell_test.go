package sidecar_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure/internal/testserver"
)

// listener hears what stands in its input, and prints each event on a line.
const listener = `
source "$1"
tenure_part= tenure_over= heard=
exec {tenure_stream}<&0
tenure_hear() { printf 'heard %s\n' "$1"; }
while [ -z "$tenure_over" ]; do tenure_listen 0.001; done
`

// TestShellHearsEveryEvent, at whatever instant its end arrives: at the very one at which the wait for it is over, too.
func TestShellHearsEveryEvent(t *testing.T) {
	t.Parallel()
	const events = 600
	cmd := exec.CommandContext(t.Context(), testserver.Find(t, "bash"), "-euc", listener, "-", absolute(t, "shell/tenure-client.sh"))
	stream, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	go func() {
		defer stream.Close()
		for i := range events {
			line := fmt.Sprintf(`{"event":"elected","token":%d,"leading":true}`, i)
			at := rand.N(len(line))
			for _, part := range []string{line[:at], line[at:], "\n"} {
				io.WriteString(stream, part) // if it fails, the line is missed
				time.Sleep(rand.N(2 * time.Millisecond))
			}
		}
	}()
	for i := range events {
		fmt.Fprintf(&want, "heard "+`{"event":"elected","token":%d,"leading":true}`+"\n", i)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got, wanted := strings.Split(string(out), "\n"), strings.Split(want.String(), "\n")
	for i := range min(len(got), len(wanted)) {
		if got[i] != wanted[i] {
			t.Fatalf("event %d of %d: %q, want %q", i, events, got[i], wanted[i])
		}
	}
	if len(got) != len(wanted) {
		t.Errorf("%d events were heard, want %d", len(got)-1, events)
	}
}
