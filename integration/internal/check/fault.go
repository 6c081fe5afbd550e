package check

import (
	"fmt"
	"strings"

	"github.com/tenure-go/tenure/integration/internal/history"
)

// Fault is something that the nemesis did.
type Fault struct {
	history.Fault
	At history.Instant
	// Undone is nil, and UndoneAt zero, if it never was.
	Undone   *history.Undone
	UndoneAt history.Instant
}

// Span is as long as the fault can have had any effect.
func (f *Fault) Span(r *Run) Span {
	if f.Undone == nil {
		return Span{f.At, r.To}
	}
	return Span{f.At, f.UndoneAt}
}

// Struck reports whether it certainly was in force.
func (f *Fault) Struck() bool {
	return f.Undone != nil && f.Undone.From != 0 && f.Undone.Effect != "" && f.Undone.Error == ""
}

// String names it.
func (f *Fault) String() string {
	return fmt.Sprintf("fault %d, %s of %s", f.Number, f.Kind, strings.Join(f.Targets, " and "))
}
