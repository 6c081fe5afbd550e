package natskv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenure-go/tenure/internal/certainty"
)

// patience bounds requests whose caller has set no bound.
const patience = 5 * time.Second

// errorNoMessage is the server's code for a subject without a message.
const errorNoMessage = jetstream.JSErrCodeMessageNotFound

// messageReply is the server's answer to a request for a message.
type messageReply struct {
	Error   *jetstream.APIError `json:"error"`
	Message *struct {
		Subject  string    `json:"subject"`
		Sequence uint64    `json:"seq"`
		Header   []byte    `json:"hdrs"`
		Data     []byte    `json:"data"`
		Time     time.Time `json:"time"`
	} `json:"message"`
}

// messageRequest asks for the last message of a subject, or for the next one from a sequence on. These requests, unlike
// those that the client library prefers, are answered by the stream's leader alone.
type messageRequest struct {
	LastOf string `json:"last_by_subj,omitempty"`
	NextOf string `json:"next_by_subj,omitempty"`
	From   uint64 `json:"seq,omitempty"`
}

// get returns the last message of a key.
func (s *Store) get(ctx context.Context, key string) (entry, error) {
	return s.message(ctx, messageRequest{LastOf: s.subject(key)})
}

// after returns the first message of the bucket after a sequence.
func (s *Store) after(ctx context.Context, sequence uint64) (entry, error) {
	return s.message(ctx, messageRequest{NextOf: s.subject(">"), From: sequence + 1})
}

// message returns an entry without a sequence if there is no such message.
func (s *Store) message(ctx context.Context, what messageRequest) (entry, error) {
	request, err := json.Marshal(what)
	if err != nil {
		return entry{}, err
	}
	var reply messageReply
	if err := s.ask(ctx, "STREAM.MSG.GET."+s.stream(), request, &reply); err != nil {
		return entry{}, err
	}
	return reply.entry(s)
}

func (r messageReply) entry(s *Store) (entry, error) {
	switch {
	case r.Error != nil && r.Error.ErrorCode == errorNoMessage:
		return entry{}, nil
	case r.Error != nil:
		if r.Error.ErrorCode == jetstream.JSErrCodeStreamNotFound {
			s.prepared.Store(false) // the next call makes it anew
		}
		return entry{}, permanent(r.Error)
	case r.Message == nil || r.Message.Sequence == 0:
		return entry{}, errors.New("the server's answer holds no message")
	}
	m, key := r.Message, strings.TrimPrefix(r.Message.Subject, s.subject(""))
	header, err := nats.DecodeHeadersMsg(m.Header)
	if len(m.Header) > 0 && err != nil {
		return entry{}, fmt.Errorf("the headers of the key %q: %w", key, err)
	}
	return entry{key: key, sequence: m.Sequence, header: header, data: m.Data, time: m.Time}, nil
}

// ask makes a request to JetStream.
func (s *Store) ask(ctx context.Context, what string, request []byte, reply any) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	m, err := s.conn.RequestWithContext(ctx, s.api+what, request)
	if err != nil {
		return s.explained(err)
	}
	if err := json.Unmarshal(m.Data, reply); err != nil {
		return fmt.Errorf("the answer to %s: %w", what, err)
	}
	return nil
}

func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, patience)
}

// publish stores a message if the last one of its key has the expected sequence, zero if there is none.
func (s *Store) publish(ctx context.Context, key string, header nats.Header, data []byte, expected uint64) (
	sequence uint64, err error,
) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	message := &nats.Msg{Subject: s.put + key, Header: header, Data: data}
	if header == nil {
		message.Header = nats.Header{}
	}
	if err := s.usable(); err != nil {
		return 0, certainty.Mark(err)
	}
	if err := ctx.Err(); err != nil {
		return 0, certainty.Mark(err)
	}
	if sequence, err = send(ctx, s.js, message, s.stream(), expected); err != nil {
		return 0, s.publishFailed(err)
	}
	return sequence, nil
}
