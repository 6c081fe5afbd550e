package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// versionInfo is the JSON form of the version.
type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func newVersion(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Show the version",
		Long:    "Show the version of this program, and what it was built with.",
		GroupID: groupOther,
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			v := readVersion()
			if asJSON {
				return a.printJSON(v)
			}
			_, err := fmt.Fprintln(a.stdout, v)
			return err
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func readVersion() versionInfo {
	v := versionInfo{Version: "unknown", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Version = build.Main.Version
	for _, s := range build.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

func (v versionInfo) String() string {
	text := "tenure " + v.Version
	if v.Revision != "" {
		text += " " + v.Revision
	}
	if v.Modified {
		text += " (modified)"
	}
	return fmt.Sprintf("%s %s %s", text, v.Go, v.Platform)
}
