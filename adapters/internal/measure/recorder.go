package measure

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tenure-go/tenure"
)

// Sink keeps the numbers. Its methods must not block, and are never called concurrently.
type Sink interface {
	// Add adds to a counter. Zero makes the series known.
	Add(id ID, n float64, labels ...string)
	// Observe adds an observation to a histogram.
	Observe(id ID, value float64, labels ...string)
	// Begin makes the empty histogram known, if that is possible.
	Begin(id ID, labels ...string)
	// Forget drops all series whose first labels are these, if that is possible.
	Forget(id ID, labels ...string)
}

// Recorder measures any number of candidates. All methods are safe for concurrent use.
type Recorder struct {
	mu      sync.Mutex
	sink    Sink
	members map[key]*member
	seats   map[string]*seat // of the elections of members
}

type key struct{ election, candidate string }

type member struct {
	key
	candidate *tenure.Candidate
	since     time.Time
	renewed   time.Time // the last renewal that was measured
}

// NewRecorder returns a recorder that measures nobody yet.
func NewRecorder(sink Sink) *Recorder {
	return &Recorder{sink: sink, members: map[key]*member{}, seats: map[string]*seat{}}
}

// errTaken: two candidates would share their series.
var errTaken = errors.New("a candidate with this ID is measured already; IDs have to differ within a process")

// Add begins to measure a candidate.
func (r *Recorder) Add(c *tenure.Candidate) error {
	if c == nil {
		return fmt.Errorf("%w: the candidate is nil", tenure.ErrConfig)
	}
	k := key{c.Election(), c.ID()}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, taken := r.members[k]; taken {
		return fmt.Errorf("%w: %q in the election %q: %w", tenure.ErrConfig, k.candidate, k.election, errTaken)
	}
	r.members[k] = &member{key: k, candidate: c, since: time.Now()}
	r.begin(k)
	if r.seats[k.election] == nil {
		r.seats[k.election] = &seat{}
		r.sink.Begin(HandoverDuration, k.election, AfterRelease)
		r.sink.Begin(HandoverDuration, k.election, AfterSilence)
	}
	return nil
}

// begin makes a candidate's series known at zero, or the first increase of each would be lost on whoever looks for
// increases.
func (r *Recorder) begin(k key) {
	r.sink.Add(TermsStarted, 0, k.election, k.candidate)
	r.sink.Add(Overruns, 0, k.election, k.candidate)
	for _, reason := range Reasons() {
		r.sink.Add(TermsEnded, 0, k.election, k.candidate, reason)
	}
	for _, kind := range Kinds() {
		r.sink.Add(StoreErrors, 0, k.election, k.candidate, kind)
	}
	r.sink.Begin(RenewalDuration, k.election, k.candidate)
	r.sink.Begin(SafetyMargin, k.election, k.candidate)
}

// Remove ends the measuring of a candidate and drops its series. One that is not measured is ignored.
func (r *Recorder) Remove(c *tenure.Candidate) {
	if c == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	k := key{c.Election(), c.ID()}
	if m := r.members[k]; m == nil || m.candidate != c {
		return
	}
	delete(r.members, k)
	for _, id := range []ID{TermsStarted, TermsEnded, Overruns, StoreErrors, RenewalDuration, SafetyMargin} {
		r.sink.Forget(id, k.election, k.candidate)
	}
	for other := range r.members {
		if other.election == k.election {
			return
		}
	}
	delete(r.seats, k.election)
	r.sink.Forget(HandoverDuration, k.election)
}

// Event takes in what happened to a candidate, for [tenure.WithObserver]. Candidates that were not added are ignored,
// so that the number of series is bounded by those that were.
func (r *Recorder) Event(e tenure.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := key{e.Election, e.Candidate}
	m := r.members[k]
	if m == nil {
		return
	}
	switch e.Kind {
	case tenure.EventElected:
		r.sink.Add(TermsStarted, 1, k.election, k.candidate)
	case tenure.EventEnded:
		r.sink.Add(TermsEnded, 1, k.election, k.candidate, Reason(e.Err))
	case tenure.EventOverran:
		r.sink.Add(Overruns, 1, k.election, k.candidate)
	case tenure.EventStoreFailed:
		r.sink.Add(StoreErrors, 1, k.election, k.candidate, Outcome(e.Err))
	case tenure.EventRenewed:
		r.renewed(m)
	default:
	}
}

// renewed measures the last renewal. Events arrive a moment later, so that two of them may find the same one.
func (r *Recorder) renewed(m *member) {
	s := m.candidate.Status()
	if s.LastRenewal.Equal(m.renewed) || s.Record.TTL == 0 {
		return
	}
	m.renewed = s.LastRenewal
	r.sink.Observe(RenewalDuration, s.Latency.Seconds(), m.election, m.key.candidate)
	r.sink.Observe(SafetyMargin, s.SafetyMargin.Seconds()/s.Record.TTL.Seconds(), m.election, m.key.candidate)
}

// Gauges calls yield with the value of every gauge of every candidate, as it is now.
func (r *Recorder) Gauges(yield func(id ID, value float64, labels ...string)) {
	for _, m := range r.list() {
		s := m.candidate.Status()
		yield(Leader, flag(s.State == tenure.StateLeader), m.election, m.key.candidate)
		yield(Paused, flag(s.Record.Pause != nil), m.election, m.key.candidate)
		yield(Token, float64(s.Record.Token), m.election, m.key.candidate)
		yield(LeaseTTL, s.Record.TTL.Seconds(), m.election, m.key.candidate)
		yield(LeaseRemaining, s.Trust.Seconds(), m.election, m.key.candidate)
		if s.State != tenure.StateStopped { // which knows nothing of the present
			yield(Leaderless, leaderless(s, m.since).Seconds(), m.election, m.key.candidate)
		}
	}
}

func flag(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

func (r *Recorder) list() []*member {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]*member, 0, len(r.members))
	for _, m := range r.members {
		all = append(all, m)
	}
	return all
}

// leaderless is for how long there is no leader that the candidate knows of. Before it has seen anything that is since
// it was added.
func leaderless(s tenure.Status, added time.Time) time.Duration {
	switch {
	case s.State == tenure.StateLeader:
		return 0
	case s.Record.Token == 0:
		return time.Since(added)
	case s.Record.Vacant():
		return s.Unchanged
	}
	return max(0, s.Unchanged-s.Record.TTL)
}
