package main

import (
	"encoding/json"

	"github.com/spf13/cobra"
)

// jsonFlag defines the flag by which programs ask for JSON. The names of its fields are stable.
func jsonFlag(cmd *cobra.Command, value *bool) {
	cmd.Flags().BoolVar(value, "json", false, "print JSON, for programs")
}

func (a *app) printJSON(v any) error {
	encoder := json.NewEncoder(a.stdout)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}
