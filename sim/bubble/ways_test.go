package bubble

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/tenure-go/tenure"
)

// errDone ends leader work that has finished by itself.
var errDone = errors.New("the work is done")

// ways are how a node can stand for election. Each returns when ctx has ended, or the API says that it is over.
var ways = []func(*node, context.Context) error{
	(*node).runs, (*node).runs, (*node).asks, (*node).isObserved, (*node).campaigns, (*node).tries,
}

// runs stands by Run.
func (n *node) runs(ctx context.Context) error {
	return sheltered(func() error { return n.candidate.Run(ctx, n.lead) })
}

// sheltered makes a call that calls leader work, which may panic or end its goroutine.
func sheltered(call func() error) error {
	ended := make(chan error, 1)
	go func() {
		err := errDone // of a goroutine that was ended
		defer func() {
			if p := recover(); p != nil && p != unrest {
				panic(p)
			}
			ended <- err
		}()
		err = call()
	}()
	return <-ended
}

// unrest is what leader work panics with.
const unrest = "the work panics"

// lead is the work of a term: it ends with it, by itself before, or badly.
func (n *node) lead(ctx context.Context, term tenure.Term) error {
	a := n.act("function", func() (tenure.Term, bool) { return term, term.Valid() })
	if a == nil {
		return nil
	}
	defer n.h.referee.end(a)
	if n.dice.chance(0.9) {
		n.follow(ctx, term)
		time.Sleep(n.wearily())
		return nil
	}
	_ = pause(ctx, n.dice.upTo(3*n.h.ttl))
	switch n.dice.one(4) {
	case 0:
		panic(unrest)
	case 1:
		runtime.Goexit()
	case 2:
		return errDone
	}
	return nil
}

// wearily is how long work takes to return: almost the drain, by any clock within the bound.
func (n *node) wearily() time.Duration { return n.dice.upTo(n.h.drain * 15 / 16) }

// follow waits for the end of the context, which has to come with that of the term, whatever blocks.
func (n *node) follow(ctx context.Context, term tenure.Term) {
	for {
		if pause(ctx, n.h.ttl/20) != nil {
			return
		}
		if !n.asleep.Load() && !term.Valid() && pause(ctx, n.h.ttl/50) == nil && !n.asleep.Load() {
			n.h.violated(fmt.Sprintf("the term %d of %s is over, and its context goes on", term.Token, n.id))
			return
		}
	}
}

// asks stands by Start, and acts upon each yes of IsLeader for a while.
func (n *node) asks(ctx context.Context) error {
	if err := n.candidate.Start(ctx); err != nil {
		return err
	}
	for ctx.Err() == nil {
		n.answer(ctx)
		_ = pause(ctx, n.dice.upTo(n.h.ttl/5)+1)
	}
	return n.candidate.Stop(context.Background())
}

// answer acts upon one answer.
func (n *node) answer(ctx context.Context) {
	if n.dice.chance(0.3) {
		n.judge(sheltered(func() error {
			_, err := n.candidate.RunIfLeader(ctx, n.lead)
			return err
		}))
		return
	}
	a := n.act("asker", n.candidate.Term)
	if a == nil {
		return
	}
	time.Sleep(n.wearily())
	n.h.referee.end(a)
	if n.dice.chance(0.5) {
		n.candidate.Idle()
	}
}

// isObserved stands by Start; the observer does the work.
func (n *node) isObserved(ctx context.Context) error {
	if err := n.candidate.Start(ctx); err != nil {
		return err
	}
	<-ctx.Done()
	return n.candidate.Stop(context.Background())
}

// observe works from the election on to the end of the term. Where another observer blocks it would hear of the end too
// late, so that it does nothing there.
func (n *node) observe(e tenure.Event) {
	n.h.tell("%s: %v %d, %s", n.id, e.Kind, e.Token, e.Reason)
	if n.company.shares.observer > 0 {
		return
	}
	switch e.Kind {
	case tenure.EventElected:
		n.began = n.act("observer", func() (tenure.Term, bool) {
			term, ok := n.candidate.Term()
			return term, ok && term.Token == e.Token
		})
	case tenure.EventEnded:
		if n.began != nil {
			time.Sleep(n.wearily())
			n.h.referee.end(n.began)
		}
	default:
	}
}

// campaigns stands by Campaign, and leads until it has enough.
func (n *node) campaigns(ctx context.Context) error {
	l, err := n.candidate.Campaign(ctx)
	if err != nil {
		return err
	}
	a := n.act("leadership", func() (tenure.Term, bool) { return l.Term(), l.Term().Valid() })
	if a != nil {
		bounded, cancel := context.WithTimeout(l.Context(), n.dice.upTo(10*n.h.ttl))
		stop := context.AfterFunc(ctx, cancel)
		n.follow(bounded, l.Term())
		stop()
		cancel()
		time.Sleep(n.wearily())
		n.h.referee.end(a)
	}
	return l.Resign(context.Background())
}

// tries bids now and then.
func (n *node) tries(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, n.dice.upTo(2*n.h.ttl)+1)
	defer cancel()
	won, err := n.candidate.TryAcquire(bounded)
	if won {
		for range n.dice.one(8) {
			n.answer(ctx)
		}
		return errors.Join(err, n.candidate.Stop(context.Background()))
	}
	return err
}
