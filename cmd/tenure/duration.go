package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"
)

// parseDuration reads a duration, and says how one is written if it is none.
func parseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is no duration: give it a unit, as in 500ms, 5s or 1m30s", text)
	}
	return d, nil
}

// explainFlag says of a flag that has to be a duration how one is written. Other errors are clear as they are.
func explainFlag(err error) error {
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok || invalid.GetFlag().Value.Type() != "duration" {
		return err
	}
	if _, wrong := parseDuration(invalid.GetValue()); wrong != nil {
		return fmt.Errorf("--%s: %w", invalid.GetFlag().Name, wrong)
	}
	return err
}
