package contenders

import (
	"context"
	"io"

	"github.com/tenure-go/tenure/bench"
	"github.com/tenure-go/tenure/bench/peers"
)

// Child does what this package and [peers.Run] start their own program again for, and reports whether the arguments
// asked for that: to be a process that leads and is killed.
func Child(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) (done bool, err error) {
	if len(args) == 0 || args[0] != bench.LeadCommand {
		return false, nil
	}
	return true, peers.Lead(ctx, All(), args[1:], stdin, stdout)
}
