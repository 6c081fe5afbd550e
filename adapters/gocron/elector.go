package gocron

import (
	"context"

	"github.com/go-co-op/gocron/v2"

	"github.com/tenure-go/tenure"
)

var _ gocron.Elector = Elector{}

// Elector has a scheduler begin jobs only while its candidate leads. Give it to [gocron.WithDistributedElector]; every
// process has a scheduler with the same jobs, and a candidate of the same election.
//
// It is asked when a job is due, and not while the job runs: [Task] ends a job together with the term. A candidate that
// was asked gives its seat back only after the whole drain (see [tenure.Candidate.Idle]), since nobody tells it when
// the job has ended.
type Elector struct {
	// Candidate is the one that is asked. It has to be started by the caller.
	Candidate *tenure.Candidate
}

// IsLeader implements [gocron.Elector]. The error is [tenure.ErrNotLeader]. It reads the clock and calls nobody, and is
// safe for concurrent use.
func (e Elector) IsLeader(context.Context) error {
	if e.Candidate.IsLeader() {
		return nil
	}
	return tenure.ErrNotLeader
}

// Task returns the job as a function for [gocron.NewTask], which gives it the context of gocron's job. When it is due
// it runs if the candidate leads, and otherwise returns nil. Its context ends with gocron's and with the term, and the
// seat is not given up before it has returned. Pass the term's token on to what the job changes. With it a scheduler
// needs no [Elector].
func Task(c *tenure.Candidate, job func(ctx context.Context, term tenure.Term) error) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := c.RunIfLeader(ctx, job)
		return err
	}
}
