package tenureclientgo

import (
	"context"
	"errors"
	"fmt"

	"github.com/tenure-go/tenure"
)

// Runner runs leader work under a candidate where a program expects something with a Start method, as a manager of
// controller-runtime does of what is added to it. It keeps all that a candidate guarantees.
//
// A controller can be started only once. So the work makes a manager of its own for each term, without leader election,
// starts it with the context that it gets, and returns when it has stopped. That manager's graceful shutdown has to be
// shorter than the candidate's drain ([tenure.WithDrain]).
type Runner struct {
	candidate *tenure.Candidate
	work      func(context.Context, tenure.Term) error
}

// NewRunner returns a runner. The error wraps [tenure.ErrConfig].
func NewRunner(candidate *tenure.Candidate, work func(context.Context, tenure.Term) error) (*Runner, error) {
	if candidate == nil || work == nil {
		return nil, fmt.Errorf("%w: a runner needs a candidate and work; one of them is nil", tenure.ErrConfig)
	}
	return &Runner{candidate, work}, nil
}

// Start stands in the election until ctx ends, and runs the work in each term, as [tenure.Candidate.Run] does. That ctx
// has ended is no error to a manager.
func (r *Runner) Start(ctx context.Context) error {
	err := r.candidate.Run(ctx, r.work)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) && !errors.Is(err, tenure.ErrOverran) {
		return nil
	}
	return err
}

// NeedLeaderElection tells a manager of controller-runtime to start the runner although the manager leads nothing.
func (*Runner) NeedLeaderElection() bool { return false }
