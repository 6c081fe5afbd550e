// Command demo is "tenure demo" as a program of its own: leadership moves between real processes that are killed and
// frozen, over a file store in a temporary directory.
//
//	go run ./cmd/tenure/demo
//
// It needs no client of any server, and so compiles within seconds where the command tenure takes minutes from an empty
// cache. It takes the flags of "tenure demo", but none of the global ones: for another store use that.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/cmd/tenure/internal/democmd"
	"github.com/tenure-go/tenure/cmd/tenure/internal/ending"
	"github.com/tenure-go/tenure/file"
)

// failed is the exit code of wrong usage, and of a demo that could not be run: that of the command tenure.
const failed = 125

func main() {
	ctx, stop := ending.Context(context.Background())
	err := exec(ctx, os.Args[1:], os.Stdin, os.Stdout)
	stop()
	os.Exit(conclude(os.Stderr, err))
}

// exec is the whole program: main only adds what belongs to a process.
func exec(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
	root := newRoot(stdin, stdout)
	root.SetArgs(args)
	return ending.Explain(ctx, root.ExecuteContext(ctx))
}

func newRoot(stdin io.Reader, stdout io.Writer) *cobra.Command {
	host := democmd.Host{
		Stdin: stdin, Stdout: stdout, Quiet: new(bool), Store: new(string), Open: open,
		Directory: func(path string) string { return path },
	}
	root := democmd.New(host)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(democmd.NewNode(host))
	return root
}

// open opens the file store in a directory, and makes it if need be.
func open(_ context.Context, dir string) (tenure.Store, func() error, error) {
	store, err := file.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	return store, store.Close, nil
}

// conclude prints the error, if there is something to say, and returns the exit code.
func conclude(stderr io.Writer, err error) int {
	if err == nil {
		return 0
	}
	if caught, ok := errors.AsType[ending.Signal](err); ok {
		return caught.ExitCode()
	}
	fmt.Fprintln(stderr, "demo:", err)
	if errors.Is(err, democmd.ErrBroken) {
		return democmd.OverlapCode
	}
	return failed
}
