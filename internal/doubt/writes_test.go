package doubt

import (
	"errors"
	"testing"

	"github.com/tenure-go/tenure"
)

// A store that is away for long leaves no more behind than one that is away for a moment.
func TestDoubtsDoNotPileUp(t *testing.T) {
	var d Writes
	for range 100 {
		d.End("billing", d.Begin("billing", "1"), errors.New("lost"))
	}
	if n := len(d.all["billing"]); n != 1 {
		t.Errorf("%d doubts about one version", n)
	}
	if d.Settle("billing", "2"); len(d.all) != 0 {
		t.Errorf("what is left is %v", d.all)
	}
}

func TestDoubtsEnd(t *testing.T) {
	unknown := errors.New("lost")
	for name, c := range map[string]struct {
		then func(d *Writes)
		want bool
	}{
		"nothing":            {func(*Writes) {}, true},
		"the same is there":  {func(d *Writes) { d.Settle("billing", "1") }, true},
		"another is there":   {func(d *Writes) { d.Settle("billing", "2") }, false},
		"of another one":     {func(d *Writes) { d.Settle("invoices", "2") }, true},
		"one is made":        {func(d *Writes) { d.End("billing", d.Begin("billing", "1"), nil) }, false},
		"one is refused":     {func(d *Writes) { d.End("billing", d.Begin("billing", "1"), tenure.ErrConflict) }, true},
		"one more is unsure": {func(d *Writes) { d.End("billing", d.Begin("billing", "2"), unknown) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			var d Writes
			w := d.Begin("billing", "1")
			if !d.About("billing", true) || d.About("billing", false) {
				t.Error("a write under way concerns who looks at the same time, and nobody else")
			}
			d.End("billing", w, unknown)
			c.then(&d)
			if got := d.About("billing", false); got != c.want {
				t.Errorf("in doubt: %t, want %t", got, c.want)
			}
		})
	}
}
