package storeurl

import (
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	if d, err := Duration("1m30s"); err != nil || d != 90*time.Second {
		t.Errorf("%v, %v", d, err)
	}
	for _, text := range []string{"5", "", "often", "5 s"} {
		want := `"` + text + `" is no duration: give it a unit, as in 500ms, 5s or 1m30s`
		if _, err := Duration(text); err == nil || err.Error() != want {
			t.Errorf("%v; want %s", err, want)
		}
	}
}
