package sidecar

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/tenure-go/tenure"
)

// campaign is a client's candidate, which stands for as long as its stream is held open.
type campaign struct {
	id        string // random: whoever knows it is the client
	who       string
	s         *Sidecar
	e         *election
	candidate *tenure.Candidate
	within    time.Duration // how often the client has to confirm that it lives; zero for never

	events    chan tenure.Event
	gone      chan struct{} // closed when nobody reads events any more
	confirmed chan struct{}
	stopped   chan struct{}
	stopping  sync.Once
	returned  chan struct{} // closed when the client's work is over, as far as can be known
	returning sync.Once

	mu   sync.Mutex
	term tenure.Term // the zero Term until the client was told that it leads
	told time.Time   // until when the client may believe that it leads
	over bool        // the client is told nothing more that it could believe
}

// campaignEvent is an event on the stream of a campaign. Every one carries the trust that is left.
type campaignEvent struct {
	Event    string    `json:"event"`
	At       time.Time `json:"at"`
	Election string    `json:"election"`
	// Campaign is the secret name of this campaign, for confirm and resign. Only the first event has it.
	Campaign string `json:"campaign,omitempty"`
	ID       string `json:"id"`
	Token    uint64 `json:"token"`
	Leading  bool   `json:"leading"`
	trust
	// TTL and Drain are those of this sidecar's candidates in the election.
	TTL   int64 `json:"ttl_ms"`
	Drain int64 `json:"drain_ms"`
	// Leader is who leads while the campaign stands by.
	Leader string `json:"leader,omitempty"`
	// Cause of an end, in one word; Reason says more, for people.
	Cause  string `json:"cause,omitempty"`
	Reason string `json:"reason,omitempty"`
	Error  string `json:"error,omitempty"`
}

// event is what all events of a campaign have. Whoever calls it hands the trust in it out to the client.
func (c *campaign) event(name string) campaignEvent {
	e := campaignEvent{
		Event: name, At: stamp(time.Now()), Election: c.e.Name, ID: c.candidate.ID(),
		TTL: c.e.TTL.Milliseconds(), Drain: c.e.Drain.Milliseconds(),
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e.Token = c.term.Token
	if c.over {
		return e
	}
	e.trust = trustOf(c.term)
	if e.Leading = e.Milliseconds > 0; e.Leading && e.until.After(c.told) {
		c.told = e.until
	}
	return e
}

// close hands out no more trust, and returns until when the client may believe what it has.
func (c *campaign) close() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	return c.told
}

// work stands for the client's work under a term: the seat is not given back before it has returned. It reports
// whether there is a term.
func (c *campaign) work() (term tenure.Term, leads bool) {
	began := make(chan tenure.Term)
	refused := make(chan struct{})
	go func() {
		defer close(refused)
		_, _ = c.candidate.RunIfLeader(context.Background(), func(_ context.Context, term tenure.Term) error {
			began <- term
			<-c.returned
			return nil
		})
	}()
	select {
	case term = <-began:
		return term, true
	case <-refused:
		return tenure.Term{}, false
	}
}

// finish says that the client's work has returned.
func (c *campaign) finish() { c.returning.Do(func() { close(c.returned) }) }

// observe passes what happens to the candidate on to the stream.
func (c *campaign) observe(e tenure.Event) {
	select {
	case c.events <- e:
	case <-c.gone:
	}
}

// stop has the candidate leave. If the client's work does not return within the drain, the seat is left to run out.
func (c *campaign) stop() {
	c.stopping.Do(func() {
		go func() {
			defer close(c.stopped)
			c.s.stop(context.Background(), c.candidate)
		}()
	})
}

// parting is how a client left.
type parting string

const (
	// partDone: it said that its work is done, or never had any.
	partDone parting = "done"
	// partGone: its process on this host ended or let the stream go; its work has the drain to stop.
	partGone parting = "gone"
	// partSilent: it may believe what it was told last for as long as that stands, and then has the drain.
	partSilent parting = "silent"
)

// leave gives the seat back once the client cannot believe any more that it leads.
func (c *campaign) leave(p parting) {
	close(c.gone)
	told := c.close()
	switch p {
	case partGone:
		time.Sleep(c.e.Drain)
	case partSilent:
		time.Sleep(time.Until(told) + c.e.Drain)
	}
	c.stop()
	c.finish()
	<-c.stopped
	c.e.quit(c)
	c.s.audit("campaign over", c.e.Name, c.who, "candidate", c.candidate.ID(), "token", c.term.Token, "parting", string(p))
}

// parley is the conversation with the client of a campaign.
type parley struct {
	*campaign
	out      *stream
	local    bool // the client runs on this host
	ended    bool // it was told that its term is over
	overdue  *time.Timer
	deadline <-chan time.Time
}

// hold tells the client how it stands until either side is done.
func (p *parley) hold(ctx context.Context) parting {
	beat := time.NewTicker(min(p.s.options.Heartbeat, p.e.TTL/6))
	defer beat.Stop()
	closing := p.s.closing
	first := p.event("standing")
	first.Campaign, first.Leader = p.id, p.leaderSeen()
	err := p.out.send(first.Event, first)
	for err == nil {
		select {
		case e := <-p.events:
			if err = p.tell(e); err == nil && e.Kind == tenure.EventStopped {
				return partDone
			}
		case <-beat.C:
			err = p.send(p.event("heartbeat"))
		case <-p.confirmed:
			p.expect()
		case <-p.deadline:
			_ = p.end("unconfirmed", "the client has not confirmed in time that it lives")
			return partSilent
		case <-closing:
			closing = nil
			p.stop()
		case <-ctx.Done():
			return p.lost(nil)
		}
	}
	return p.lost(err)
}

// lost judges the end of a stream: err is nil if the client has closed it. Only what happens on this host proves
// something about the client; elsewhere it may be the network that failed.
func (p *parley) lost(err error) parting {
	switch {
	case p.term.Token == 0:
		return partDone
	case !p.local, errors.Is(err, os.ErrDeadlineExceeded):
		return partSilent
	case p.ended:
		return partDone
	}
	return partGone
}

func (p *parley) send(e campaignEvent) error { return p.out.send(e.Event, e) }

// leaderSeen is who leads in the newest record that the candidate or the observer has seen.
func (p *parley) leaderSeen() string {
	leader, _ := p.s.leader(p.e)
	return leader
}

// tell passes one event of the candidate on.
func (p *parley) tell(e tenure.Event) error {
	switch e.Kind {
	case tenure.EventElected:
		return p.elected()
	case tenure.EventRenewed:
		if p.leads() {
			return p.send(p.event("renewed"))
		}
	case tenure.EventEnded:
		if p.leads() {
			p.stop() // one campaign is one term at most
			return p.end(causeOf(e.Err), e.Reason)
		}
	case tenure.EventReleased:
		if p.ended {
			return p.send(p.event("released"))
		}
	case tenure.EventOverran:
		event := p.event("overran")
		event.Reason = "the stream was not closed within the drain; the seat is left to run out"
		return p.send(event)
	case tenure.EventLeaderChanged:
		if p.term.Token == 0 {
			event := p.event("standing")
			event.Leader, event.Reason = e.Leader, e.Reason
			return p.send(event)
		}
	case tenure.EventStoreFailed:
		event := p.event("store-failed")
		event.Error = e.Err.Error()
		return p.send(event)
	case tenure.EventStopped:
		if !p.ended {
			return p.end("stopped", "the candidate has left the election")
		}
	}
	return nil
}

// leads tells whether the client believes that it leads.
func (p *parley) leads() bool { return p.term.Token != 0 && !p.ended }

// elected hands the term out, unless it is over already.
func (p *parley) elected() error {
	if p.ended {
		return nil
	}
	term, ok := p.work()
	if !ok {
		return nil
	}
	if err := disown(p.s.options.Store, term); err != nil {
		p.s.log.Warn("the term cannot be told to the client", "election", p.e.Name, "token", term.Token, "error", err)
		p.resign()
		return nil
	}
	p.mu.Lock()
	p.term = term
	p.mu.Unlock()
	p.s.audit("elected", p.e.Name, p.who, "candidate", p.candidate.ID(), "token", term.Token)
	p.expect()
	return p.send(p.event("elected"))
}

// expect gives the client of a term until its next confirmation, if it is to confirm.
func (p *parley) expect() {
	if p.within == 0 || !p.leads() {
		return
	}
	if p.overdue == nil {
		p.overdue = time.NewTimer(p.within)
		p.deadline = p.overdue.C
	}
	p.overdue.Reset(p.within)
}

// end tells the client that it does not lead any more, and that its work has the drain to stop.
func (p *parley) end(cause, reason string) error {
	p.ended, p.deadline = true, nil
	p.close()
	event := p.event("ended")
	event.Cause, event.Reason = cause, reason
	p.s.audit("ended", p.e.Name, p.who, "candidate", p.candidate.ID(), "token", event.Token, "cause", cause)
	return p.send(event)
}

// causes of an end, as clients read them.
var causes = []struct {
	err  error
	name string
}{
	{tenure.ErrResigned, "resigned"},
	{tenure.ErrStopped, "stopped"},
	{tenure.ErrLeaseExpired, "lease-expired"},
	{tenure.ErrDeposed, "deposed"},
	{tenure.ErrRevoked, "revoked"},
	{tenure.ErrUnhealthy, "unhealthy"},
}

func causeOf(err error) string {
	for _, c := range causes {
		if errors.Is(err, c.err) {
			return c.name
		}
	}
	return "other"
}

// confirm notes that the client lives, and tells how it stands.
func (c *campaign) confirm() campaignEvent {
	select {
	case c.confirmed <- struct{}{}:
	default:
	}
	return c.event("confirmed")
}

// resign says that the client's work is done.
func (c *campaign) resign() {
	c.close()
	c.stop()
	c.finish()
}
