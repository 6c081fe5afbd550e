package sidecar

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/tenure-go/tenure"
)

// maxMetadata bounds what a client can put into the record.
const maxMetadata = 4 << 10

// campaignRequest opens a campaign. All fields are optional.
type campaignRequest struct {
	ID       string            `json:"id"`
	Address  string            `json:"address"`
	Metadata map[string]string `json:"metadata"`
	Priority int               `json:"priority"`
	// Within is how often the client is going to confirm that it lives.
	Within int64 `json:"confirm_within_ms"`
}

func (q campaignRequest) check(e Election) error {
	size := len(q.Address)
	for key, value := range q.Metadata {
		size += len(key) + len(value)
	}
	least, most := int64(100), e.TTL.Milliseconds()
	switch {
	case size > maxMetadata:
		return fmt.Errorf("address and metadata have %d bytes, more than %d", size, maxMetadata)
	case q.Within != 0 && (q.Within < least || q.Within > most):
		return fmt.Errorf("confirm_within_ms %d must be between %d and the TTL, %d, or 0 for never", q.Within, least, most)
	}
	return nil
}

// campaign stands for the client until its stream ends.
func (s *Sidecar) campaign(w http.ResponseWriter, r *http.Request, e *election) {
	if !e.Campaign {
		refuse(w, http.StatusConflict, "in %q the sidecar itself stands; it has to be opened to campaigns first", e.Name)
		return
	}
	var request campaignRequest
	if !decode(w, r, &request) {
		return
	}
	c, err := s.newCampaign(e, request, s.who(r, ""))
	if err != nil {
		refuse(w, http.StatusBadRequest, "%v", err)
		return
	}
	out, ok := s.open(w, r, typeLines)
	if !ok {
		return
	}
	s.campaigns.Add(1)
	left := partDone
	defer func() { // the stream ends at once, its slot is free when the candidate has left
		go func() {
			defer s.campaigns.Done()
			defer s.freeStream()
			c.leave(left)
		}()
	}()
	e.enter(c)
	s.audit("campaign", e.Name, c.who, "candidate", c.candidate.ID())
	if err := c.candidate.Start(context.Background()); err != nil {
		return
	}
	left = (&parley{campaign: c, out: out, local: isLocal(r)}).hold(r.Context())
}

func (s *Sidecar) newCampaign(e *election, q campaignRequest, who string) (*campaign, error) {
	if err := q.check(e.Election); err != nil {
		return nil, err
	}
	c := &campaign{
		id: rand.Text(), who: who, s: s, e: e, within: time.Duration(q.Within) * time.Millisecond,
		events: make(chan tenure.Event, 4), gone: make(chan struct{}), confirmed: make(chan struct{}, 1),
		stopped: make(chan struct{}), returned: make(chan struct{}),
	}
	if q.ID == "" {
		q.ID = s.id + "/" + rand.Text()[:6]
	}
	candidate, err := s.candidate(e.Election, tenure.WithID(q.ID), tenure.WithAddress(q.Address),
		tenure.WithMetadata(q.Metadata), tenure.WithPriority(q.Priority), tenure.WithObserver(c.observe))
	c.candidate = candidate
	return c, err
}

// confirm answers with how a campaign stands. A client counts the trust from before it asked.
func (s *Sidecar) confirm(w http.ResponseWriter, r *http.Request, e *election) {
	if c, ok := s.ofClient(w, r, e); ok {
		reply(w, http.StatusOK, c.confirm())
	}
}

// resignCampaign ends a campaign whose work is done.
func (s *Sidecar) resignCampaign(w http.ResponseWriter, r *http.Request, e *election) {
	if c, ok := s.ofClient(w, r, e); ok {
		s.audit("resign campaign", e.Name, s.who(r, ""), "candidate", c.candidate.ID())
		c.resign()
		reply(w, http.StatusAccepted, map[string]string{"election": e.Name, "id": c.candidate.ID()})
	}
}

func (s *Sidecar) ofClient(w http.ResponseWriter, r *http.Request, e *election) (*campaign, bool) {
	if !decode(w, r, &struct{}{}) {
		return nil, false
	}
	c, ok := e.campaign(r.PathValue("campaign"))
	if !ok {
		refuse(w, http.StatusNotFound, "there is no such campaign in %q: it has ended", e.Name)
	}
	return c, ok
}

// wish is the body of what an operator asks for. By says who asks.
type wish struct {
	By string `json:"by"`
}

type transferWish struct {
	wish
	To string `json:"to"`
}

type pauseWish struct {
	wish
	Reason string `json:"reason"`
}

// asked answers an operator: what the record says now.
type asked struct {
	Election string          `json:"election"`
	Leader   string          `json:"leader"`
	Token    uint64          `json:"token"`
	By       string          `json:"by"` // who asked, as the log has it
	Request  *tenure.Request `json:"request,omitempty"`
	Pause    *tenure.Pause   `json:"pause,omitempty"`
}

func (s *Sidecar) resign(w http.ResponseWriter, r *http.Request, e *election) {
	var q wish
	if decode(w, r, &q) {
		s.ask(w, r, e, "resign", tenure.Request{By: q.By})
	}
}

func (s *Sidecar) transfer(w http.ResponseWriter, r *http.Request, e *election) {
	var q transferWish
	switch {
	case !decode(w, r, &q):
	case q.To == "":
		refuse(w, http.StatusBadRequest, `say who shall lead: {"to": "ID"}`)
	default:
		s.ask(w, r, e, "transfer", tenure.Request{To: q.To, By: q.By})
	}
}

func (s *Sidecar) ask(w http.ResponseWriter, r *http.Request, e *election, what string, request tenure.Request) {
	action := pastAction{Action: what, By: request.By, To: request.To}
	s.change(w, r, e, action, func(ctx context.Context, who string) (tenure.Record, error) {
		request.By = who
		return tenure.Ask(ctx, s.options.Store, e.Name, request)
	})
}

func (s *Sidecar) pause(w http.ResponseWriter, r *http.Request, e *election) {
	var q pauseWish
	if !decode(w, r, &q) {
		return
	}
	if len(q.Reason) > maxMetadata {
		refuse(w, http.StatusBadRequest, "the reason has %d bytes, more than %d", len(q.Reason), maxMetadata)
		return
	}
	action := pastAction{Action: "pause", By: q.By, Reason: q.Reason}
	s.change(w, r, e, action, func(ctx context.Context, who string) (tenure.Record, error) {
		return tenure.SetPause(ctx, s.options.Store, e.Name, tenure.Pause{By: who, Reason: q.Reason})
	})
}

func (s *Sidecar) resume(w http.ResponseWriter, r *http.Request, e *election) {
	var q wish
	if !decode(w, r, &q) {
		return
	}
	s.change(w, r, e, pastAction{Action: "resume", By: q.By}, func(ctx context.Context, _ string) (tenure.Record, error) {
		return tenure.LiftPause(ctx, s.options.Store, e.Name)
	})
}

// change changes a record for an operator, and leaves a line that says who it was.
func (s *Sidecar) change(w http.ResponseWriter, r *http.Request, e *election, action pastAction,
	edit func(ctx context.Context, who string) (tenure.Record, error),
) {
	if err := checkName(action.By); err != nil {
		refuse(w, http.StatusBadRequest, "by: %v", err)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.options.StoreTimeout)
	defer cancel()
	action.By = s.who(r, action.By)
	record, err := edit(ctx, action.By)
	action.Leader, action.Token = record.Leader, record.Token
	if err != nil {
		action.Error = err.Error()
	}
	s.note(e, action)
	if err != nil {
		refuse(w, statusOf(err), "%v", err)
		return
	}
	reply(w, http.StatusAccepted, asked{e.Name, record.Leader, record.Token, action.By, record.Request, record.Pause})
}

// note leaves a line about what an operator asked for, in the log and for who looks on.
func (s *Sidecar) note(e *election, action pastAction) {
	what, args := action.Action, []any{}
	if action.To != "" {
		args = append(args, "to", action.To)
	}
	if action.Reason != "" {
		args = append(args, "reason", action.Reason)
	}
	if action.Error == "" {
		args = append(args, "leader", action.Leader, "token", action.Token)
	} else {
		what += " refused"
		args = append(args, "error", action.Error)
	}
	s.audit(what, e.Name, action.By, args...)
	e.mu.Lock()
	defer e.mu.Unlock()
	action.At = stamp(time.Now())
	e.history.addAction(action)
	e.stir()
}

// checkName accepts what can be a candidate's name, or nothing.
func checkName(name string) error {
	if name == "" {
		return nil
	}
	return tenure.CheckElection(name) // the same rules
}

func statusOf(err error) int {
	switch {
	case errors.Is(err, tenure.ErrNotLeader), errors.Is(err, tenure.ErrNotTransferred):
		return http.StatusConflict
	case errors.Is(err, tenure.ErrConfig):
		return http.StatusBadRequest
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout
	}
	return http.StatusBadGateway
}
