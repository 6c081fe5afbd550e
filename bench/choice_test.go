package bench

import (
	"strings"
	"testing"
)

func TestChoice(t *testing.T) {
	c := Stores([]Bed{{Name: "a"}, {Name: "b"}, {Name: "c"}})
	for names, want := range map[string]string{"all": "a, b, c", "b": "b", "c, a,c": "c, a"} {
		chosen, err := c.Choose(names)
		if got := Stores(chosen).Names(); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", names, got, err, want)
		}
	}
	for _, names := range []string{"", "a,d", "a,"} {
		if _, err := c.Choose(names); err == nil || !strings.Contains(err.Error(), "known: a, b, c") {
			t.Errorf("%q: %v", names, err)
		}
	}
}
