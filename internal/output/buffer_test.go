package output

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// The race detector sees to it that it can be read meanwhile.
func TestBufferIsReadWhileItIsWritten(t *testing.T) {
	var b Buffer
	var writers sync.WaitGroup
	for i := range 4 {
		writers.Go(func() {
			fmt.Fprintf(&b, "writer %d wrote\n", i)
			_ = b.String()
		})
	}
	writers.Wait()
	for i := range 4 {
		if line := fmt.Sprintf("writer %d wrote\n", i); strings.Count(b.String(), line) != 1 {
			t.Errorf("%q does not stand once in %q", line, b.String())
		}
	}
}

func TestHasLineWantsAllTextsInOneLine(t *testing.T) {
	var b Buffer
	fmt.Fprint(&b, "action=pause by=ann\naction=resume by=ben\nno end of line")
	for text, want := range map[string]bool{
		"action=pause,ann": true, "ben,resume": true, "no end": true, "action=pause,ben": false, "carl": false,
	} {
		if got := b.HasLine(strings.Split(text, ",")...); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
