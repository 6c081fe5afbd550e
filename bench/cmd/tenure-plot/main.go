// Command tenure-plot draws figures from the tables of docs/benchmarks.md and docs/peers.md into docs/benchmarks, so
// that both always tell the same. A table that is not there yet leaves its figures as they are. `make bench-plots`
// runs it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/tenure-go/tenure/bench/plot"
)

func main() {
	if err := run(os.Args[1:], os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "tenure-plot:", err)
		os.Exit(1)
	}
}

func run(args []string, stderr io.Writer) error {
	flags := flag.NewFlagSet("tenure-plot", flag.ContinueOnError)
	flags.SetOutput(stderr)
	docs := flags.String("docs", "docs", "the directory of the documents")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("there are no arguments, only flags, but got %q", flags.Args())
	}
	for _, source := range []struct {
		document string
		figures  []figure
	}{
		{"benchmarks.md", storeFigures()},
		{"peers.md", peerFigures()},
	} {
		text, err := os.ReadFile(filepath.Join(*docs, source.document))
		if err != nil {
			return err
		}
		for _, f := range source.figures {
			if err := f.draw(string(text), filepath.Join(*docs, "benchmarks")); err != nil {
				fmt.Fprintf(stderr, "%s: not drawn: %v\n", f.name, err)
			}
		}
	}
	return plot.Draw(filepath.Join(*docs, "benchmarks")) // those too that other benchmarks have left there
}
