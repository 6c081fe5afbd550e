package main

import (
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// shells are the shells for which there is a completion script.
var shells = map[string]func(root *cobra.Command, w io.Writer) error{
	"bash":       func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) },
	"fish":       func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) },
	"powershell": (*cobra.Command).GenPowerShellCompletionWithDesc,
	"zsh":        (*cobra.Command).GenZshCompletion,
}

const completionLong = `Print a script by which a shell completes commands, flags and the names of elections.

  bash:        source <(tenure completion bash)
  zsh:         source <(tenure completion zsh)
  fish:        tenure completion fish | source
  powershell:  tenure completion powershell | Out-String | Invoke-Expression

Put the line into the file that your shell reads at its start.`

func newCompletion(a *app) *cobra.Command {
	names := slices.Sorted(maps.Keys(shells))
	return &cobra.Command{
		Use:       "completion " + strings.Join(names, "|"),
		Short:     "Print the completion script of a shell",
		Long:      completionLong,
		GroupID:   groupOther,
		ValidArgs: names,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || shells[args[0]] == nil {
				return usagef("name one shell: %s", strings.Join(names, ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return shells[args[0]](cmd.Root(), a.stdout) },
	}
}
