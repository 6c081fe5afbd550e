package demo

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/cmd/tenure/internal/guard"
)

// Opener opens the store at a URL. The function that it returns closes it.
type Opener func(ctx context.Context, url string) (tenure.Store, func() error, error)

// NodeArgument is the first argument of a process that is a node of a demo.
const NodeArgument = "demo-node"

// Node is a node of a demo: a candidate that leads as often as it can, and reports on out what it was answered. It
// reads its task from in, and ends with it.
func Node(ctx context.Context, open Opener, in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	var t task
	if !lines.Scan() {
		return errors.New("demo: a node is started by the demo alone: try tenure demo")
	}
	if err := json.Unmarshal(lines.Bytes(), &t); err != nil {
		return fmt.Errorf("demo: reading the node's task: %w", err)
	}
	outliveDemo()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	deserted := make(chan struct{})
	go func() {
		for lines.Scan() {
			cancel() // the only order there is
		}
		close(deserted)
		cancel()
	}()
	err := stand(ctx, t, open, &reporter{out: out})
	select {
	case <-deserted:
		clearUp(t.Remove)
		return nil
	default:
		return err
	}
}

// clearUp removes what the demo would have removed. The nodes of a demo that is gone all do this once they have stopped
// writing, so that the last of them leaves nothing.
func clearUp(dir string) {
	if dir != "" {
		_ = os.RemoveAll(dir)
	}
}

// stand takes part in the election until ctx ends.
func stand(ctx context.Context, t task, open Opener, r *reporter) error {
	// A store that hangs must not keep the process alive beyond the demo.
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(2*t.TTL+time.Second, func() {
			clearUp(t.Remove)
			os.Exit(1)
		})
	})
	defer stop()
	store, closeStore, err := open(ctx, t.Store)
	if err != nil {
		return err
	}
	defer func() { _ = closeStore() }()
	n := &node{reporter: r}
	if n.candidate, err = tenure.New(store, t.Election, append(candidacy(t.ID, t.TTL),
		tenure.WithObserver(n.observe))...); err != nil {
		return err
	}
	r.send(report{Kind: reportUp, At: guard.Now()})
	polling, end := context.WithCancel(context.WithoutCancel(ctx))
	polled := n.startPoll(polling, t)
	err = n.candidate.Run(ctx, n.lead)
	end()
	<-polled
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// candidacy is how the nodes of a demo stand for election.
func candidacy(id string, ttl time.Duration) []tenure.Option {
	return []tenure.Option{tenure.WithID(id), tenure.WithTTL(ttl)}
}

// node is the candidate of a node, and what reports on it.
type node struct {
	*reporter
	candidate *tenure.Candidate
	asking    sync.Mutex // held while the candidate is asked
}

// lead is the leader's work: to be there until the term ends.
func (n *node) lead(ctx context.Context, term tenure.Term) error {
	n.send(report{Kind: reportLead, At: guard.Now(), Token: term.Token})
	<-ctx.Done()
	n.idle()
	n.send(report{Kind: reportReturned, At: guard.Now(), Token: term.Token, Reason: context.Cause(ctx).Error()})
	return nil
}

// idle says that nothing acts on the answers any more, so that the seat can be given up without letting the drain pass.
// A question that is still being answered would undo that.
func (n *node) idle() {
	n.asking.Lock()
	defer n.asking.Unlock()
	n.candidate.Idle()
}

func (n *node) observe(e tenure.Event) {
	rep := report{At: guard.Now(), Token: e.Token, Reason: e.Reason}
	switch e.Kind {
	case tenure.EventReleased:
		rep.Kind = reportReleased
	case tenure.EventOverran:
		rep.Kind = reportOverran
	case tenure.EventStoreFailed:
		rep.Kind, rep.Reason = reportFailed, e.Err.Error()
	default:
		return
	}
	n.send(rep)
}

func (n *node) ask() answer {
	n.asking.Lock()
	defer n.asking.Unlock()
	term, leads := n.candidate.Term()
	if !leads {
		return answer{}
	}
	return answer{leads: true, token: term.Token, left: term.Remaining()}
}

// startPoll asks the candidate until ctx ends; the channel is closed thereafter.
func (n *node) startPoll(ctx context.Context, t task) <-chan struct{} {
	p := &poll{ask: n.ask, now: guard.Now, report: n.send}
	if t.Unsafe {
		p.ask = remember(n.ask, int(t.TTL/3/pollEvery))
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			p.once()
			time.Sleep(pollEvery)
		}
	}()
	return done
}
