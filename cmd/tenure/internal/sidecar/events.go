package sidecar

import (
	"net/http"
	"time"

	"github.com/tenure-go/tenure"
)

// changeEvent is a change of an election on its stream. Event is the kind of change, "heartbeat" or "store-failed".
type changeEvent struct {
	Event  string    `json:"event"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason,omitempty"`
	view
}

// watch streams the changes of an election, the state that they begin from first.
func (s *Sidecar) watch(w http.ResponseWriter, r *http.Request, e *election) {
	out, ok := s.open(w, r, typeEvents)
	if !ok {
		return
	}
	defer s.freeStream()
	if r.Method == http.MethodHead {
		return
	}
	follower, last, seen := e.subscribe()
	defer e.unsubscribe(follower)
	f := &watching{s: s, e: e, out: out, now: last.now, seen: seen}
	if f.send(tenure.ChangeFirst.String(), "at the beginning of the stream", last.err) == nil {
		f.follow(r, follower)
	}
}

// watching is a stream of changes.
type watching struct {
	s    *Sidecar
	e    *election
	out  *stream
	now  tenure.Change
	seen bool
}

func (f *watching) follow(r *http.Request, follower *subscriber) {
	beat := time.NewTicker(f.s.options.Heartbeat)
	defer beat.Stop()
	for {
		var err error
		select {
		case n, ok := <-follower.notices:
			if !ok {
				return // it lags too far behind, and shall look anew
			}
			err = f.tell(n)
		case <-beat.C:
			f.refresh()
			err = f.send("heartbeat", "", nil)
		case <-r.Context().Done():
			return
		case <-f.s.closing:
			return
		}
		if err != nil {
			return
		}
	}
}

func (f *watching) tell(n notice) error {
	if n.err != nil {
		return f.send("store-failed", "", n.err)
	}
	_, why := f.s.options.Describe(n.before, n.now)
	f.now, f.seen = n.now, true
	return f.send(n.now.Kind.String(), why, nil)
}

// refresh takes in the renewals that the stream was not told of. Anything else has yet to come, with its reason.
func (f *watching) refresh() {
	now, seen, _, _ := f.e.look()
	if seen && now.Kind == tenure.ChangeRenewed && now.Record.Session == f.now.Record.Session &&
		now.Record.Token == f.now.Record.Token {
		f.now.UnchangedSince = now.UnchangedSince
	}
}

func (f *watching) send(name, why string, failure error) error {
	event := changeEvent{Event: name, At: stamp(time.Now()), Reason: why, view: f.s.viewOf(f.e, f.now, f.seen)}
	if failure != nil {
		event.Error = failure.Error()
	}
	return f.out.send(name, event)
}
