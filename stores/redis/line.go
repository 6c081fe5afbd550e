package redis

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure"
)

// line is a subscription: one connection to one server, for any number of topics. It lives until the first error.
type line struct {
	node    string
	sharded bool
	ctx     context.Context // ends when the line is given up
	cancel  context.CancelFunc
	pubsub  *redis.PubSub

	// Guarded by the feed's mutex.
	topics      map[*topic]bool
	unconfirmed map[string]int    // subscriptions of a channel that the server has not yet confirmed
	checks      map[string]*check // by the ping that they wait for
	last        map[string]said   // what was found out last by this line, by channel
	pings       int
	broken      bool

	mu    sync.Mutex
	heard time.Time // when the last word arrived
	asked time.Time // since when it owes an answer, zero if it does not
}

// health is what a line is found to be.
type health uint8

const (
	sound health = iota
	silent
	overdue
)

func newLine(ctx context.Context, node string, server *redis.Client, sharded bool) *line {
	ctx, cancel := context.WithCancel(ctx)
	return &line{
		node: node, sharded: sharded, ctx: ctx, cancel: cancel, pubsub: server.Subscribe(ctx), heard: time.Now(),
		topics: map[*topic]bool{}, unconfirmed: map[string]int{}, checks: map[string]*check{},
		last: map[string]said{},
	}
}

// hangUp ends the line, and whoever waits for its connection.
func (l *line) hangUp() {
	l.cancel()
	_ = l.pubsub.Close() // it is closed already or gets closed
}

// subscribe asks for a channel. The first call connects.
func (l *line) subscribe(channel string) error {
	if l.sharded {
		return l.send(l.pubsub.SSubscribe, channel)
	}
	return l.send(l.pubsub.Subscribe, channel)
}

func (l *line) unsubscribe(channel string) error {
	if l.sharded {
		return l.send(l.pubsub.SUnsubscribe, channel)
	}
	return l.send(l.pubsub.Unsubscribe, channel)
}

func (l *line) ping(id string) error { return l.send(l.pubsub.Ping, id) }

// send does not wait for the answer, but may for a connection: not for long, since one goroutine serves all lines.
func (l *line) send(request func(context.Context, ...string) error, argument string) error {
	ctx, cancel := context.WithTimeout(l.ctx, answerWithin)
	defer cancel()
	owing := l.ask()
	err := request(ctx, argument)
	if !owing {
		l.sent()
	}
	return err
}

// ask notes that the line owes an answer, and reports whether it did before. Asking comes before sending, which the
// answer may overtake.
func (l *line) ask() (owing bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	owing = !l.asked.IsZero()
	if !owing {
		l.asked = time.Now()
	}
	return owing
}

// sent lets the time for the answer begin when the request is on its way, unless the answer has come already.
func (l *line) sent() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.asked.IsZero() {
		l.asked = time.Now()
	}
}

func (l *line) hear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard, l.asked = time.Now(), time.Time{}
}

// patience returns after which time the line's health changes if nothing is heard of it.
func (l *line) patience(ping time.Duration) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case !l.asked.IsZero():
		return time.Until(l.asked.Add(answerWithin))
	case ping > 0:
		return time.Until(l.heard.Add(ping))
	}
	return time.Hour
}

func (l *line) health(ping time.Duration) health {
	patience := l.patience(ping)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case patience > 0:
		return sound
	case l.asked.IsZero():
		return silent
	}
	return overdue
}

// receive takes in what arrives by a line until it breaks.
func (f *feed) receive(l *line) {
	// The client would first replace a lost connection by itself, which may take long, and then tell of the loss. Under
	// a context that has ended it cannot; reading needs none.
	ended, end := context.WithCancel(context.Background())
	end()
	for {
		message, err := l.pubsub.Receive(ended)
		if err != nil {
			f.lost(l, err)
			return
		}
		l.hear()
		switch m := message.(type) {
		case *redis.Message:
			f.change(l, m.Channel, m.Payload)
		case *redis.Subscription:
			f.subscription(l, m)
		case *redis.Pong:
			f.settle(l, m.Payload)
		}
	}
}

// change passes on a change.
func (f *feed) change(l *line, channel, message string) {
	f.mu.Lock()
	t := f.topics[channel]
	if t == nil || t.line != l {
		f.mu.Unlock()
		return
	}
	f.mu.Unlock()
	state, err := f.store.parse(t.election, message)
	if err != nil { // somebody else publishes here, or a later version
		f.interrupt(err, t)
		return
	}
	for _, w := range f.note(t, l, state) {
		w.change(l, state)
	}
}

// note has the checks under way know of a change, and returns the watches to tell.
func (f *feed) note(t *topic, l *line, state tenure.Snapshot) []*watch {
	f.mu.Lock()
	defer f.mu.Unlock()
	l.last[t.channel] = saying(state)
	for _, c := range t.checks {
		c.latest = &state
	}
	return append([]*watch(nil), t.watches...)
}

// subscription takes in that the server has confirmed a subscription, or ended it because the slot moves.
func (f *feed) subscription(l *line, m *redis.Subscription) {
	f.mu.Lock()
	t := f.topics[m.Channel]
	if t != nil && t.line != l {
		t = nil
	}
	moved := t != nil && m.Kind == "sunsubscribe"
	if m.Kind == "subscribe" || m.Kind == "ssubscribe" {
		l.unconfirmed[m.Channel]--
		if l.unconfirmed[m.Channel] <= 0 {
			delete(l.unconfirmed, m.Channel)
			if t != nil {
				t.confirmed = true
				f.look(t, 0)
			}
		}
	}
	f.mu.Unlock()
	if moved {
		f.interrupt(errMoved, t)
	}
}

// settle ends the check that waits for an answer to this ping.
func (f *feed) settle(l *line, id string) {
	f.mu.Lock()
	c := l.checks[id]
	delete(l.checks, id)
	if c == nil || c.topic.line != l {
		f.mu.Unlock()
		return
	}
	t, state := c.topic, c.state()
	t.checks = slices.DeleteFunc(t.checks, func(other *check) bool { return other == c })
	last, known := l.last[t.channel]
	if known && last != saying(state) && state.Exists() {
		f.mu.Unlock()
		f.lost(l, errMissed)
		return
	}
	l.last[t.channel] = saying(state)
	t.pause = 0
	f.mu.Unlock()
	for _, claim := range c.claims {
		claim.begin(l, state)
	}
}
