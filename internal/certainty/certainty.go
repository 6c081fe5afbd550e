// Package certainty tells apart what errors of a [tenure.Store] say of a write: that it was certainly not made, or
// nothing for certain.
package certainty

import (
	"errors"

	"github.com/tenure-go/tenure"
)

// NotWritten reports whether an error says for certain that nothing was written. Any other leaves the outcome unknown.
func NotWritten(err error) bool {
	return errors.Is(err, tenure.ErrConflict) || errors.Is(err, tenure.ErrNotApplied) ||
		errors.Is(err, tenure.ErrPermanent)
}

// Mark has an error say so that came before anything of the write was sent. One that says so already stays as it is.
func Mark(err error) error {
	if NotWritten(err) {
		return err
	}
	return tenure.NotApplied(err, 0)
}
