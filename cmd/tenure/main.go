// Command tenure runs programs under leader election, and shows and operates elections. Its README describes it.
package main

import (
	"context"
	"io"
	"os"

	"github.com/tenure-go/tenure/cmd/tenure/internal/ending"
	"github.com/tenure-go/tenure/cmd/tenure/internal/guard"
)

func main() {
	guard.Main()
	ctx, stop := ending.Context(context.Background())
	err := exec(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(conclude(os.Stderr, err))
}

// exec is the whole command: main only adds what belongs to a process. exitCode tells what an error means.
func exec(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	root := newRoot(&app{stdin: stdin, stdout: stdout, stderr: stderr})
	root.SetArgs(args)
	return ending.Explain(ctx, root.ExecuteContext(ctx))
}
