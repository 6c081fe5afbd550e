package sidecar

import (
	"net/http"
	"time"
)

const (
	// overviewBeat is the longest silence on the stream of all elections, which is for people who look on.
	overviewBeat = 2 * time.Second
	// overviewRest is how long that stream rests between two looks, so that quick renewals do not fill it.
	overviewRest = 50 * time.Millisecond
)

// overviewFirst begins the stream of all elections. The page forgets those that are not named.
type overviewFirst struct {
	Event     string    `json:"event"`
	At        time.Time `json:"at"`
	ID        string    `json:"id"`
	Elections []string  `json:"elections"`
	// Beat is how often each election is told of at least.
	Beat int64 `json:"beat_ms"`
}

// overviewEvent tells how one election stands. Event is "first", with all that is kept of its past, or "now", with what
// has happened since. It hands out no trust, since looking on must not have the sidecar disown its terms.
type overviewEvent struct {
	Event string    `json:"event"`
	At    time.Time `json:"at"`
	standing
	company
	// TTL and Drain of this sidecar's own candidates: what their safety margin is part of.
	OwnTTL   int64        `json:"own_ttl_ms"`
	OwnDrain int64        `json:"own_drain_ms"`
	Changes  []pastChange `json:"changes"`
	Actions  []pastAction `json:"actions"`
}

// overview streams how all elections stand, whenever something happens and at every beat.
func (s *Sidecar) overview(w http.ResponseWriter, r *http.Request) {
	out, ok := s.open(w, r, typeEvents)
	if !ok {
		return
	}
	defer s.freeStream()
	if r.Method == http.MethodHead {
		return
	}
	o := &onlooker{s: s, out: out, stirred: make(chan struct{}, 1), told: map[*election]told{}}
	defer s.follow(o.stirred)()
	o.look(r)
}

// onlooker is one stream of all elections. However slow its client, it has no backlog: it tells how things stand when
// it gets round to it.
type onlooker struct {
	s       *Sidecar
	out     *stream
	stirred chan struct{}
	told    map[*election]told
}

// told is how far an onlooker has been told of an election.
type told struct{ stir, number uint64 }

func (o *onlooker) look(r *http.Request) {
	every := min(overviewBeat, o.s.options.Heartbeat)
	err := o.out.send("sidecar", overviewFirst{
		Event: "sidecar", At: stamp(time.Now()), ID: o.s.id, Elections: o.s.names, Beat: every.Milliseconds(),
	})
	beat := time.NewTicker(every)
	defer beat.Stop()
	for all := true; err == nil; {
		if err = o.tell(all); err != nil {
			return
		}
		time.Sleep(overviewRest)
		select {
		case <-o.stirred:
			all = false
		case <-beat.C:
			all = true
		case <-r.Context().Done():
			return
		case <-o.s.closing:
			return
		}
	}
}

// tell sends the elections that have stirred since they were told of, or all.
func (o *onlooker) tell(all bool) error {
	for _, name := range o.s.names {
		e := o.s.elections[name]
		last, before := o.told[e]
		now, changes, actions := e.past(last)
		if !all && now.stir == last.stir {
			continue
		}
		event := o.event(e)
		event.Changes, event.Actions = changes, actions
		if !before {
			event.Event = "first"
		}
		if err := o.out.send(event.Event, event); err != nil {
			return err
		}
		o.told[e] = now
	}
	return nil
}

func (o *onlooker) event(e *election) overviewEvent {
	now, seen, candidates, err := e.look()
	return overviewEvent{
		Event: "now", At: stamp(time.Now()), standing: o.s.standingOf(e, now, seen), company: companyOf(e, candidates, err),
		OwnTTL: e.TTL.Milliseconds(), OwnDrain: e.Drain.Milliseconds(),
	}
}

// follow has a channel filled whenever something happens, until the function that it returns is called.
func (s *Sidecar) follow(stirred chan struct{}) (stop func()) {
	for _, e := range s.elections {
		e.mu.Lock()
		e.onlookers[stirred] = struct{}{}
		e.mu.Unlock()
	}
	return func() {
		for _, e := range s.elections {
			e.mu.Lock()
			delete(e.onlookers, stirred)
			e.mu.Unlock()
		}
	}
}

// stir wakes all that follow. The caller holds the lock.
func (e *election) stir() {
	e.stirs++
	for stirred := range e.onlookers {
		select {
		case stirred <- struct{}{}:
		default: // it has yet to look
		}
	}
}

// past returns what has happened since somebody was told, and how far that goes.
func (e *election) past(last told) (now told, changes []pastChange, actions []pastAction) {
	e.mu.Lock()
	defer e.mu.Unlock()
	changes, actions = e.history.after(last.number)
	return told{e.stirs, e.history.last}, changes, actions
}
