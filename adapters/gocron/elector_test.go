package gocron_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/tenure-go/tenure"
	adapter "github.com/tenure-go/tenure/adapters/gocron"
	"github.com/tenure-go/tenure/memory"
)

// ledger notes who ran a job, at each second.
type ledger struct {
	mu      sync.Mutex
	entries []string
}

func (l *ledger) write(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, name)
}

// since returns who ran the job since the last call.
func (l *ledger) since() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	entries := l.entries
	l.entries = nil
	return entries
}

// replica is a process with a scheduler and a candidate.
type replica struct {
	*tenure.Candidate
	scheduler gocron.Scheduler
}

func newReplica(t *testing.T, store tenure.Store, id string) *replica {
	t.Helper()
	c, err := tenure.New(store, "reports", tenure.WithID(id), tenure.WithTTL(10*time.Second))
	must(t, err)
	must(t, c.Start(context.Background()))
	return &replica{Candidate: c}
}

// schedule runs a job every second.
func (r *replica) schedule(t *testing.T, job any, options ...gocron.SchedulerOption) {
	t.Helper()
	scheduler, err := gocron.NewScheduler(options...)
	must(t, err)
	_, err = scheduler.NewJob(gocron.DurationJob(time.Second), gocron.NewTask(job))
	must(t, err)
	scheduler.Start()
	r.scheduler = scheduler
}

func (r *replica) stop(t *testing.T) {
	t.Helper()
	must(t, r.scheduler.Shutdown())
	must(t, r.Stop(context.Background()))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func pair(t *testing.T, test func(a, b *replica)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		a := newReplica(t, store, "a")
		synctest.Wait()
		b := newReplica(t, store, "b")
		test(a, b)
		a.stop(t)
		b.stop(t)
		must(t, store.Close())
	})
}

func TestElectorRunsJobsOnTheLeaderAlone(t *testing.T) {
	pair(t, func(a, b *replica) {
		var l ledger
		for name, r := range map[string]*replica{"a": a, "b": b} {
			r.schedule(t, func() { l.write(name) }, gocron.WithDistributedElector(adapter.Elector{Candidate: r.Candidate}))
		}
		time.Sleep(3500 * time.Millisecond)
		if got := l.since(); !slices.Equal(got, []string{"a", "a", "a"}) {
			t.Errorf("the jobs ran on %q", got)
		}
		must(t, a.TransferTo(context.Background(), "b"))
		synctest.Wait()
		l.since()
		time.Sleep(3 * time.Second)
		if got := l.since(); !slices.Equal(got, []string{"b", "b", "b"}) {
			t.Errorf("after the transfer the jobs ran on %q", got)
		}
		if err := (adapter.Elector{Candidate: a.Candidate}).IsLeader(t.Context()); !errors.Is(err, tenure.ErrNotLeader) {
			t.Errorf("the former leader says %v", err)
		}
	})
}

func TestTaskEndsWithItsTerm(t *testing.T) {
	pair(t, func(a, b *replica) {
		var l ledger
		causes := make(chan error, 2)
		a.schedule(t, adapter.Task(a.Candidate, func(ctx context.Context, term tenure.Term) error {
			if term.Token != 1 {
				t.Errorf("the job runs in term %d", term.Token)
			}
			<-ctx.Done()
			causes <- context.Cause(ctx)
			l.write("a")
			return nil
		}))
		b.schedule(t, adapter.Task(b.Candidate, func(context.Context, tenure.Term) error {
			l.write("b")
			return nil
		}))
		time.Sleep(2500 * time.Millisecond)
		must(t, a.TransferTo(context.Background(), "b"))
		if cause := <-causes; !errors.Is(cause, tenure.ErrResigned) {
			t.Errorf("the job ended with %v", cause)
		}
		time.Sleep(time.Second)
		if got := l.since(); !slices.Equal(got, []string{"a", "a", "b"}) {
			t.Errorf("the jobs ran on %q, want first the ends of a's two", got)
		}
	})
}

func TestTaskEndsWithItsScheduler(t *testing.T) {
	pair(t, func(a, b *replica) {
		ended := make(chan bool, 1)
		a.schedule(t, adapter.Task(a.Candidate, func(ctx context.Context, term tenure.Term) error {
			<-ctx.Done()
			ended <- term.Valid()
			return nil
		}))
		b.schedule(t, func() {})
		time.Sleep(1500 * time.Millisecond)
		must(t, a.scheduler.StopJobs())
		if valid := <-ended; !valid {
			t.Error("the job ended with the term, not with its scheduler")
		}
	})
}
