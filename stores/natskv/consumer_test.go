package natskv

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testserver"
)

// laggard returns a consumer whose server has the records of a and b but not yet that of c, and the message with that
// one. It hears nothing but what the test has it hear.
func laggard(t *testing.T) (*consumer, *nats.Msg) {
	t.Helper()
	s := openStore(t, testserver.StartNATS(t).Addr, "elections")
	for _, election := range []string{"a", "b", "c"} {
		storetest.Swap(t, s, election, "", storetest.Held(1, "x"))
	}
	c, err := s.consume(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	var messages []*nats.Msg
	for range c.pending {
		messages = append(messages, <-c.messages)
	}
	if err := c.sub.Unsubscribe(); err != nil {
		t.Fatal(err)
	}
	c.messages = make(chan *nats.Msg, len(messages))
	c.pending--
	for _, m := range messages[:c.pending] {
		c.messages <- m
	}
	return c, messages[c.pending]
}

// signOfLife is what a server sends to a consumer for which it has nothing else, and how many messages it has sent.
func signOfLife(sent string) *nats.Msg {
	return &nats.Msg{Header: nats.Header{"Status": {"100"}, lastSentHeader: {sent}}}
}

// Replicas apply a write some time after the leader has acknowledged it. Whoever reads from one of them finds it all
// the same.
func TestReplicaThatLagsIsWaitedFor(t *testing.T) {
	c, late := laggard(t)
	var keys []string
	err := c.catchUp(t.Context(), func(e entry) {
		if keys = append(keys, e.key); e.key == "b" {
			c.messages <- late
		}
	})
	if want := []string{"a", "b", "c"}; err != nil || !slices.Equal(keys, want) {
		t.Errorf("the keys are %q, %v, want %q", keys, err, want)
	}
}

// A replica that does not come after is left for another one.
func TestReplicaThatLagsForLongIsGivenUp(t *testing.T) {
	c, _ := laggard(t)
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	err := c.catchUp(ctx, func(e entry) {
		if e.key == "b" {
			c.messages <- signOfLife("2")
		}
	})
	if !errors.Is(err, errBehind) {
		t.Errorf("the error is %v, want that the replica lags", err)
	}
}

// What was written last may be removed by hand. Nobody waits for it.
func TestNobodyWaitsForWhatWasRemoved(t *testing.T) {
	server := testserver.StartNATS(t)
	s := openStore(t, server.Addr, "elections?heartbeat=30s")
	storetest.Swap(t, s, "a", "", storetest.Held(1, "x"))
	storetest.Swap(t, s, "b", "", storetest.Held(1, "x"))
	removeKey(t, s, "b")
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	if names, err := s.List(ctx); err != nil || !slices.Equal(names, []string{"a"}) {
		t.Errorf("List returned %q, %v", names, err)
	}
}
