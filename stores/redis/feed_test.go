package redis

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure"
)

// bench is a feed whose goroutines do not run, with one topic that is watched, on a line to a server that is not there:
// what would happen between them happens here step by step.
type bench struct {
	*feed
	topic *topic
	line  *line
	box   *inbox
}

func newBench(t *testing.T) bench {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", DialerRetries: 1})
	t.Cleanup(func() { client.Close() })
	s := newStore(t, client)
	b := bench{feed: newFeed(s), box: &inbox{news: make(chan struct{}, 1)}}
	b.started = true // so that nothing is
	must(t, b.add(&watch{election: "e", deliver: b.box.deliver}))
	b.topic = b.topics[s.layout.channel("e")]
	b.line, _ = b.assign(b.topic, client)
	return b
}

func (b bench) arrives(t *testing.T, s tenure.Snapshot) {
	t.Helper()
	text, err := json.Marshal(s.Record)
	must(t, err)
	b.change(b.line, b.topic.channel, string(s.Version)+"\n"+string(text))
}

// pong lets the answer to the ping of a check arrive whose load has returned a state.
func (b bench) pong(c *check, loaded tenure.Snapshot) {
	c.loaded = loaded
	b.line.checks["1"] = c
	b.settle(b.line, "1")
}

var one, two = tenure.Snapshot{Version: "1-x", Record: leader(1, "one")}, tenure.Snapshot{Version: "2-x", Record: leader(2, "two")}

// As long as the server has not confirmed the subscription a change could be missed, so that what is loaded may not be
// the last word.
func TestNothingIsLoadedBeforeTheSubscriptionStands(t *testing.T) {
	b := newBench(t)
	b.tend(b.topic)
	if last, n := b.box.last(); n != 0 {
		t.Fatalf("before the confirmation %+v was delivered", last)
	}
	b.subscription(b.line, &redis.Subscription{Kind: "subscribe", Channel: b.topic.channel})
	b.tend(b.topic)
	b.box.await(t, "that there is no server", 0, interrupted)
}

// A confirmation of an earlier subscription of the channel, which was ended since, says nothing of this one.
func TestLateConfirmationIsOfTheEarlierSubscription(t *testing.T) {
	b := newBench(t)
	b.line.unconfirmed[b.topic.channel]++
	b.subscription(b.line, &redis.Subscription{Kind: "subscribe", Channel: b.topic.channel})
	if b.topic.confirmed {
		t.Error("the topic is confirmed with one confirmation of two to come")
	}
	b.subscription(b.line, &redis.Subscription{Kind: "subscribe", Channel: b.topic.channel})
	if !b.topic.confirmed {
		t.Error("the topic is not confirmed")
	}
}

// A change that arrives while the current state is asked for may be newer than what is loaded, and is never older than
// all that is loaded and has not arrived.
func TestChangeOvertakesLoad(t *testing.T) {
	b := newBench(t)
	c := b.newCheck(b.topic, b.line)
	b.arrives(t, two)
	if last, n := b.box.last(); n != 0 {
		t.Fatalf("before the current state is known %+v was delivered", last)
	}
	b.pong(c, one)
	if last, n := b.box.last(); n != 1 || last.snapshot.Version != two.Version {
		t.Errorf("after %d deliveries the last is %+v, want the change alone", n, last)
	}
}

func TestLoadWithoutChange(t *testing.T) {
	b := newBench(t)
	b.pong(b.newCheck(b.topic, b.line), one)
	b.arrives(t, two)
	b.arrives(t, two)
	if last, n := b.box.last(); n != 2 || last.snapshot.Version != two.Version {
		t.Errorf("after %d deliveries the last is %+v, want what was loaded and then the change", n, last)
	}
}

// After an interruption nothing of before it is delivered: not what was asked for, not what arrives by the old line.
func TestNothingOldAfterAnInterruption(t *testing.T) {
	b := newBench(t)
	c := b.newCheck(b.topic, b.line)
	b.lost(b.line, errSilent)
	b.pong(c, one)
	for _, claim := range c.claims {
		claim.begin(b.line, one)
	}
	for _, w := range b.topic.watches {
		w.change(b.line, two)
	}
	if last, n := b.box.last(); n != 1 || last.err == nil {
		t.Errorf("after %d deliveries the last is %+v, want the interruption alone", n, last)
	}
}

// A watch that ended while its delivery was on the way is told nothing.
func TestNothingAfterTheEnd(t *testing.T) {
	b := newBench(t)
	c := b.newCheck(b.topic, b.line)
	for _, w := range b.topic.watches {
		b.remove(w)
		w.end()
	}
	b.pong(c, one)
	if last, n := b.box.last(); n != 0 {
		t.Errorf("after the end %+v was delivered", last)
	}
	b.tend(b.topic)
	if len(b.topics)+len(b.lines) > 0 || context.Cause(b.line.ctx) == nil {
		t.Error("the last watch has ended, and the line has not")
	}
}
