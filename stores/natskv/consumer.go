package natskv

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// backlog is how many messages may wait to be read, beside twice those that the bucket holds at the start. More
	// show as a gap.
	backlog = 1 << 12
	// abandonedAfter is when the server removes a consumer that nobody listens to any more.
	abandonedAfter = 10 * time.Second
	// lastSentHeader, in a sign of life, is the sequence of the last message that the server sent to the consumer.
	lastSentHeader = "Nats-Last-Consumer"
)

// consumer reads a whole bucket: the last message of each key first, then every new one, in order. It is a push
// consumer without acknowledgements and flow control, so that nothing is sent to the server while it stands.
type consumer struct {
	store     *Store
	sub       *nats.Subscription
	messages  chan *nats.Msg
	status    chan nats.Status
	heartbeat *time.Ticker

	heard    time.Time
	sequence uint64 // of the last message, as the server counts them for this consumer
	last     uint64 // its sequence in the bucket
	due      uint64 // the sequence that the bucket's leader had come to at the start
	pending  uint64 // how many messages the server that sends had at the start and are still to come
}

// consume begins to read. With headersOnly the messages come without data. Whoever begins closes.
func (s *Store) consume(ctx context.Context, headersOnly bool) (*consumer, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	info, err := s.info(ctx)
	if err != nil {
		return nil, err
	}
	c := &consumer{
		store: s, messages: make(chan *nats.Msg, backlog+2*info.State.Msgs), heard: time.Now(),
		status:    s.conn.StatusChanged(nats.RECONNECTING, nats.DISCONNECTED, nats.CLOSED),
		heartbeat: time.NewTicker(s.config.heartbeat / 2), due: info.State.LastSeq,
	}
	if err := c.subscribe(ctx, headersOnly); err != nil {
		c.close()
		return nil, fmt.Errorf("making a consumer: %w", permanent(s.explained(err)))
	}
	return c, nil
}

func (c *consumer) subscribe(ctx context.Context, headersOnly bool) (err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	if c.sub, err = c.store.conn.ChanSubscribe(c.store.conn.NewInbox(), c.messages); err != nil {
		return err
	}
	made, err := c.store.js.CreatePushConsumer(ctx, c.store.stream(), jetstream.ConsumerConfig{
		DeliverSubject: c.sub.Subject, DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy,
		AckPolicy: jetstream.AckNonePolicy, FilterSubject: c.store.subject(">"), HeadersOnly: headersOnly,
		IdleHeartbeat: c.store.config.heartbeat, InactiveThreshold: abandonedAfter,
		MemoryStorage: true, Replicas: 1,
	})
	if err == nil {
		c.pending = made.CachedInfo().NumPending
		c.heard = time.Now()
	}
	return err
}

func (c *consumer) close() {
	c.heartbeat.Stop()
	c.store.conn.RemoveStatusListener(c.status)
	if c.sub != nil {
		_ = c.sub.Unsubscribe() // fails only with the connection
	}
}

// catchUp visits the last message of each key, as it was when the consumer was made or newer. The server that sends may
// hold a copy that lags behind the leader's: it sends what that has, and the rest when it comes. One that falls idle
// before is given up.
func (c *consumer) catchUp(ctx context.Context, visit func(entry)) error {
	asked := false
	for c.pending > 0 || c.last < c.due {
		if c.pending == 0 && !asked {
			asked = true
			// The last message may have been removed, and nothing be due.
			if later, err := c.store.after(ctx, c.last); err != nil || later.sequence == 0 {
				return err
			}
		}
		e, err := c.next(ctx)
		switch {
		case err != nil:
			return err
		case e.sequence != 0:
			visit(e)
		case asked:
			return errBehind
		}
	}
	return nil
}

// next waits for a message and returns it, or an entry without a sequence if it says nothing of a key. An error is the
// end of the consumer: what comes after it would have gaps.
func (c *consumer) next(ctx context.Context) (entry, error) {
	for {
		select {
		case m := <-c.messages:
			c.heard = time.Now()
			return c.take(m)
		case <-c.heartbeat.C:
			if silence := time.Since(c.heard); silence > c.store.config.heartbeat*5/2 && len(c.messages) == 0 {
				return entry{}, fmt.Errorf("%w for %v", errSilent, silence.Round(time.Millisecond))
			}
		case <-c.status:
			return entry{}, errDisconnected
		case <-ctx.Done():
			return entry{}, ctx.Err()
		}
	}
}

func (c *consumer) take(m *nats.Msg) (entry, error) {
	if m.Reply == "" || m.Header.Get("Status") != "" {
		return entry{}, c.control(m)
	}
	about, err := m.Metadata()
	if err != nil {
		return entry{}, fmt.Errorf("a message of the watch: %w", err)
	}
	if about.Sequence.Consumer != c.sequence+1 {
		return entry{}, errGap
	}
	c.sequence, c.last = about.Sequence.Consumer, about.Sequence.Stream
	if c.pending > 0 {
		c.pending--
	}
	if about.NumPending == 0 {
		c.pending = 0
	}
	return entry{
		key: strings.TrimPrefix(m.Subject, c.store.subject("")), sequence: about.Sequence.Stream,
		header: m.Header, data: m.Data, time: about.Timestamp,
	}, nil
}

// control takes in a sign of life, which also tells what was sent last. Everything else that is no message of the
// bucket says that the consumer has ended.
func (c *consumer) control(m *nats.Msg) error {
	if m.Header.Get("Status") != "100" {
		return fmt.Errorf("the server ended the consumer: %s %s", m.Header.Get("Status"), m.Header.Get("Description"))
	}
	sent, err := strconv.ParseUint(m.Header.Get(lastSentHeader), 10, 64)
	if err == nil && sent != c.sequence {
		return errGap
	}
	c.pending = 0 // an idle server has sent all
	return nil
}

// scan visits the last message of each key.
func (s *Store) scan(ctx context.Context, headersOnly bool, visit func(entry)) error {
	c, err := s.consume(ctx, headersOnly)
	if err != nil {
		return err
	}
	defer c.close()
	return c.catchUp(ctx, visit)
}
