package sidecar

import (
	"context"
	"sync"
	"time"

	"github.com/tenure-go/tenure"
)

// backlog is how many changes a stream may lag behind before it is ended.
const backlog = 16

// election is one that is served: what an observer sees of it, and the candidates that this sidecar has in it.
type election struct {
	Election
	own      *tenure.Candidate // nil if it is open to campaigns
	describe func(before, now tenure.Change) (state, reason string)

	disowning sync.Mutex
	disowned  uint64 // token of the last term of the own candidate that others may be told of

	mu          sync.Mutex
	now         tenure.Change
	seen        bool
	err         error // of the last look, nil if that went well
	subscribers map[*subscriber]struct{}
	campaigns   map[string]*campaign
	history     history
	onlookers   map[chan struct{}]struct{}
	stirs       uint64 // counts what onlookers may want to see
}

// notice is what an observer has to tell: a change, or a failure of the store.
type notice struct {
	before, now tenure.Change
	err         error
}

// subscriber gets every notice. Its channel is closed if it does not keep up.
type subscriber struct{ notices chan notice }

func (s *Sidecar) newElection(e Election, own *tenure.Candidate) *election {
	return &election{
		Election: e, own: own, describe: s.options.Describe, subscribers: map[*subscriber]struct{}{},
		campaigns: map[string]*campaign{}, onlookers: map[chan struct{}]struct{}{},
	}
}

// observe follows the election until ctx ends. One observer serves all streams.
func (e *election) observe(ctx context.Context, store tenure.Store) {
	for ctx.Err() == nil {
		for change, err := range tenure.Observe(ctx, store, e.Name, tenure.WithRenewals()) {
			e.take(change, err)
		}
		select { // the cause of a permanent failure may be repaired
		case <-ctx.Done():
		case <-time.After(e.TTL):
		}
	}
}

func (e *election) take(change tenure.Change, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := notice{before: e.now, now: change, err: err}
	failed := e.err != nil
	switch {
	case err != nil:
		e.err = err
	case change.Kind != tenure.ChangeSilent: // which may be told without a look at the store
		e.err = nil
	}
	if err == nil {
		e.now, e.seen = change, true
	}
	e.stir()
	mere := err == nil && (change.Kind == tenure.ChangeRenewed || change.Kind == tenure.ChangeRegained)
	if failed && err != nil || mere && !failed {
		return
	}
	e.remember(n, failed)
	if mere {
		return
	}
	for s := range e.subscribers {
		select {
		case s.notices <- n:
		default:
			e.drop(s)
		}
	}
}

// subscribe returns a subscriber, and what its notices go on from; seen tells whether there is a state yet.
func (e *election) subscribe() (s *subscriber, last notice, seen bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s = &subscriber{make(chan notice, backlog)}
	e.subscribers[s] = struct{}{}
	return s, notice{now: e.now, err: e.err}, e.seen
}

func (e *election) unsubscribe(s *subscriber) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.drop(s)
}

func (e *election) drop(s *subscriber) {
	if _, there := e.subscribers[s]; there {
		delete(e.subscribers, s)
		close(s.notices)
	}
}

func (e *election) enter(c *campaign) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.campaigns[c.id] = c
	e.stir()
}

func (e *election) quit(c *campaign) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.campaigns, c.id)
	e.stir()
}

func (e *election) campaign(id string) (*campaign, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c, ok := e.campaigns[id]
	return c, ok
}

// look returns what is known, and the candidates of this sidecar.
func (e *election) look() (now tenure.Change, seen bool, candidates []*tenure.Candidate, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.own != nil {
		candidates = append(candidates, e.own)
	}
	for _, c := range e.campaigns {
		candidates = append(candidates, c.candidate)
	}
	return e.now, e.seen, candidates, e.err
}

// leader returns who leads as far as can be known. A record of a candidate of this sidecar, or of its name, proves
// nothing unless that candidate still trusts itself.
func (s *Sidecar) leader(e *election) (id string, seen bool) {
	if term, leads := s.lead(e); leads && term.Valid() {
		return s.id, true
	}
	now, seen, candidates, _ := e.look()
	for _, c := range candidates {
		status := c.Status()
		if status.Session == now.Record.Session && (c == e.own || status.State != tenure.StateLeader) {
			return "", seen
		}
	}
	// Whoever compares the name with that of this sidecar must not find it in what an earlier process of the name left.
	if !now.Led() || e.own != nil && now.Record.Leader == s.id {
		return "", seen
	}
	return now.Record.Leader, seen
}
