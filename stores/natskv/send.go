package natskv

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Rests between the attempts to send a message to an occupied key. They double: a quarter of a second in all.
const (
	firstRest = time.Millisecond
	lastRest  = 128 * time.Millisecond
)

// send stores a message if the last one of its subject has the expected sequence, and returns its own. The client
// library has to repeat nothing: a message that was stored would meet itself, and look like a conflict.
//
// The leader of a stream of several copies refuses all that comes to a key while another write to it is on the way into
// the copies, and for a moment after that one was acknowledged and told to the watches. So refused nothing is stored,
// and nothing is known of a conflict, but soon will be.
func send(
	ctx context.Context, js jetstream.JetStream, message *nats.Msg, stream string, expected uint64,
) (sequence uint64, err error) {
	for rest := firstRest; ; rest *= 2 {
		ack, err := js.PublishMsg(ctx, message, jetstream.WithRetryAttempts(0),
			jetstream.WithExpectStream(stream), jetstream.WithExpectLastSequencePerSubject(expected))
		if err == nil {
			return ack.Sequence, nil
		}
		if !occupied(err) || rest > lastRest {
			return 0, err
		}
		select {
		case <-time.After(rest):
		case <-ctx.Done():
			return 0, err
		}
	}
}

// occupied reports whether a message was refused for the sake of another one to its key that is not through yet.
func occupied(err error) bool {
	var refusal *jetstream.APIError
	return errors.As(err, &refusal) && refusal.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant
}
