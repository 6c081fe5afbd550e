package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/tenure-go/tenure/internal/storeurl"
)

// explainFlag says of a flag that has to be a duration how one is written. Other errors are clear as they are.
func explainFlag(err error) error {
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok || invalid.GetFlag().Value.Type() != "duration" {
		return err
	}
	if _, wrong := storeurl.Duration(invalid.GetValue()); wrong != nil {
		return fmt.Errorf("--%s: %w", invalid.GetFlag().Name, wrong)
	}
	return err
}
