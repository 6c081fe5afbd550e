package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/cmd/tenure/internal/guard"
)

// Result is how a run ended.
type Result struct {
	// Ran says whether the command was run in the last term, and Status what it exited with, as shells report it.
	Ran    bool
	Status int
	// Lost is why the last term ended before the command did, nil if the command exited by itself.
	Lost error
}

// Run stands for election and runs the command for every term, until the command's work is done, ctx ends, or Once
// the first term is over. When it returns nothing of the command is left.
//
// The error is that of ctx if that ended first, and then Result tells about the last term still; a
// [guard.CommandError] if the command cannot be started; otherwise that of [tenure.New] or [tenure.Candidate.Run].
func Run(ctx context.Context, options Options) (Result, error) {
	if err := options.check(); err != nil {
		return Result{}, err
	}
	if options.Force == nil {
		options.Force = context.Background()
	}
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	s := &supervisor{Options: options, leave: leave}
	candidate, err := tenure.New(options.Store, options.Election,
		append(options.candidate(), tenure.WithObserver(s.observe))...)
	if err != nil {
		return Result{}, err
	}
	if err := options.checkStart(); err != nil {
		return Result{}, err
	}
	s.candidate = candidate
	err = candidate.Run(ctx, s.lead)
	if s.finished {
		err = s.failure
	}
	return s.result, err
}

// supervisor is one Run.
type supervisor struct {
	Options
	candidate *tenure.Candidate
	leave     context.CancelFunc // ends the candidacy

	// Of the goroutine of Run.
	result   Result
	finished bool // the run is over, with failure
	failure  error
	missed   int // how many starts in a row came too late

	mu      sync.Mutex
	guarded *guarded // nil while no command runs
}

// guarded is a command that runs under a term.
type guarded struct {
	guard *guard.Guard
	term  tenure.Term
}

// lead does the work of one term. It returns when nothing of the command is left.
func (s *supervisor) lead(ctx context.Context, term tenure.Term) error {
	s.result = Result{}
	pause := s.RestartDelay
	for ctx.Err() == nil {
		began := time.Now()
		exit, err := s.run(ctx, term)
		if s.misses(ctx, term, err) {
			break
		}
		if err != nil || exit.Cause == guard.CauseExit {
			if s.conclude(exit, err) {
				return nil
			}
		}
		if time.Since(began) > longestPause {
			pause = s.RestartDelay
		}
		s.pause(ctx, term, exit, pause)
		pause = min(2*pause, max(longestPause, s.RestartDelay))
	}
	if s.finished {
		return nil
	}
	s.result.Lost = context.Cause(ctx)
	if s.Once {
		s.finish(nil)
	}
	return nil
}

// missesAtMost is how many starts in a row may come too late. After that the run is over: the seat is better left to
// others, and somebody has to know.
const missesAtMost = 3

// misses reports whether the command could not be started before the lease was over. Then it gives the seat back, since
// a leader that does not work is worse than none, and ends the run if it was once too often.
func (s *supervisor) misses(ctx context.Context, term tenure.Term, err error) bool {
	if !errors.Is(err, guard.ErrOverdue) {
		s.missed = 0
		return false
	}
	if s.missed++; s.missed < missesAtMost {
		s.Logger.Warn("the command could not be started in time; the seat is given back", "token", term.Token)
		_ = s.candidate.Resign(ctx) // if the term is over already, there is nothing to give back
		<-ctx.Done()
		return true
	}
	s.finish(fmt.Errorf("the command could not be started in time for %d terms in a row: a TTL of %v and a drain of %v "+
		"leave %v for it; give a longer TTL", missesAtMost, s.TTL, s.Drain, s.trust()))
	return true
}

// conclude judges a command that exited by itself, or was not started. It reports whether the run is over.
func (s *supervisor) conclude(exit guard.Exit, err error) bool {
	switch {
	case errors.Is(err, guard.ErrLost), errors.Is(err, errTermOver):
		return false // no fault of the command
	case err != nil:
		s.finish(err)
	case s.Restart.wanted(exit.Status()):
		return false
	default:
		s.finish(nil)
	}
	return true
}

func (s *supervisor) finish(failure error) {
	s.finished, s.failure = true, failure
	s.leave()
}

// pause waits before the command is started again in the same term.
func (s *supervisor) pause(ctx context.Context, term tenure.Term, exit guard.Exit, pause time.Duration) {
	if ctx.Err() != nil {
		return
	}
	s.Logger.Warn("command is to be started again", "token", term.Token, "ended", exit.Cause, "status", exit.Status(),
		"pause", pause)
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// errTermOver says that there is no term any more to run a command under.
var errTermOver = errors.New("supervisor: the term is over")

// run runs the command once. ctx ends with the term.
func (s *supervisor) run(ctx context.Context, term tenure.Term) (guard.Exit, error) {
	lock, err := s.lock(term)
	if err != nil {
		return guard.Exit{}, err
	}
	defer lock.close()
	mercy, noMercy := s.mercy(ctx)
	defer noMercy()
	// A term that ends while the command is being started leaves it the drain, so it is not ctx that bounds the start.
	g, err := guard.Start(mercy, guard.Options{
		Command: s.Command, Env: s.environment(term), Stdin: s.Stdin, Stdout: s.Stdout, Stderr: s.Stderr,
		Signal: s.Signal, Deadlines: s.deadlines(term), Lock: lock.file, NoCgroup: s.NoCgroup,
		Logger: s.Logger.With("token", term.Token),
	})
	switch {
	case err != nil && mercy.Err() != nil:
		return guard.Exit{}, errTermOver
	case err != nil:
		return guard.Exit{}, err
	}
	s.watchOver(&guarded{g, term})
	defer s.watchOver(nil)
	defer context.AfterFunc(ctx, func() { _ = g.Terminate(guard.Within(guard.Now(), s.Drain).KillAt) })()
	defer context.AfterFunc(mercy, func() { _ = g.Kill() })()
	exit, err := g.Wait()
	s.result.Ran, s.result.Status = true, exit.Status()
	return exit, err
}

// mercy returns a context that ends when the command is to be killed without a drain: because somebody else may lead
// already, or because whoever runs this process has lost patience.
func (s *supervisor) mercy(term context.Context) (context.Context, context.CancelFunc) {
	mercy, end := context.WithCancel(context.WithoutCancel(term))
	context.AfterFunc(term, func() {
		if errors.Is(context.Cause(term), tenure.ErrDeposed) {
			end()
		}
	})
	unbind := context.AfterFunc(s.Force, end)
	return mercy, func() {
		unbind()
		end()
	}
}

// deadlines returns the instants for the lease as it is now.
func (s *supervisor) deadlines(term tenure.Term) guard.Deadlines {
	return guard.Within(guard.Expiry(term.Remaining), s.Drain)
}

// watchOver makes renewals reach the guard. One that came while the command was being started is made up for.
func (s *supervisor) watchOver(g *guarded) {
	s.mu.Lock()
	s.guarded = g
	s.mu.Unlock()
	s.extend()
}

// observe follows the candidate: a renewal extends the deadlines.
func (s *supervisor) observe(e tenure.Event) {
	if e.Kind == tenure.EventRenewed {
		s.extend()
	}
}

func (s *supervisor) extend() {
	s.mu.Lock() // held to the end, so that no older deadlines overtake newer ones
	defer s.mu.Unlock()
	g := s.guarded
	if g == nil || !g.term.Valid() {
		return
	}
	err := g.guard.Extend(s.deadlines(g.term))
	if err != nil && !errors.Is(err, guard.ErrEnding) {
		s.Logger.Warn("the guard did not take a renewal; earlier deadlines stand", "token", g.term.Token, "error", err)
	}
}

// environment tells the command under which term it runs.
func (s *supervisor) environment(term tenure.Term) []string {
	return append(slices.Concat(os.Environ(), s.Env),
		"TENURE_ELECTION="+term.Election, "TENURE_ID="+s.candidate.ID(), fmt.Sprintf("TENURE_TOKEN=%d", term.Token))
}
