package natskv

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenure-go/tenure"
)

var (
	errClosed           = tenure.Permanent(errors.New("the store is closed"))
	errConnectionClosed = tenure.Permanent(errors.New("the connection to NATS was closed by its owner"))
	errDisconnected     = errors.New("not connected to any NATS server")
	errSilent           = errors.New("the server has given no sign of life")
	errGap              = errors.New("messages of the watch were lost")
	errBehind           = errors.New("the replica that was asked lags behind the leader of the bucket's stream")
)

// Error codes of the server that the client library does not name.
const (
	codeAccountResources = 10002
	codeNoPeers          = 10005
	codeNotAvailable     = 10008
	codeNotLeader        = 10009
	codeNoResources      = 10023
	codeNoMemory         = 10028
	codeMessageTooLarge  = 10054
	codeNoStorage        = 10047
	codeWrongStream      = 10060
	codeNotClustered     = 10074
	codeStoreFailed      = 10077
	codeSealed           = 10109
	codeTooManyRequests  = 10167
)

// publishFailed says what is known of the outcome of a message that was sent, or was to be. What it does not know for
// certain it returns as it is: unknown.
func (s *Store) publishFailed(err error) error {
	var refusal *jetstream.APIError
	switch {
	case errors.As(err, &refusal):
		return refused(refusal)
	case errors.Is(err, jetstream.ErrNoStreamResponse), errors.Is(err, nats.ErrNoResponders):
		// Nobody was there to take the message. Perhaps the bucket has gone; the next call looks.
		s.prepared.Store(false)
		return tenure.NotApplied(err, 0)
	case errors.Is(err, nats.ErrMaxPayload):
		return tenure.Permanent(err)
	case errors.Is(err, nats.ErrReconnectBufExceeded), errors.Is(err, nats.ErrConnectionDraining):
		return tenure.NotApplied(err, 0)
	}
	return s.explained(err)
}

// refused tells what the stream's leader means by not storing a message.
func refused(err *jetstream.APIError) error {
	switch err.ErrorCode {
	case jetstream.JSErrCodeStreamWrongLastSequence:
		return fmt.Errorf("%w: %w", tenure.ErrConflict, err)
	case codeAccountResources, codeNotAvailable, codeNotLeader, codeNoResources, codeNoMemory, codeNoStorage,
		codeTooManyRequests, jetstream.JSErrCodeStreamWrongLastSequenceConstant:
		return tenure.NotApplied(err, 0)
	case codeStoreFailed:
		// A full bucket refuses; anything else is a failure of the disk, after which the message may be there or not.
		if strings.Contains(err.Description, "maximum") {
			return tenure.NotApplied(err, 0)
		}
	case codeMessageTooLarge, codeWrongStream, codeSealed:
		return tenure.Permanent(err)
	}
	return err
}

// explained adds what the server said about missing permissions to an error that would only speak of a timeout: the
// server does not answer a request that it forbids.
func (s *Store) explained(err error) error {
	said := s.conn.LastError()
	if errors.Is(err, context.DeadlineExceeded) && errors.Is(said, nats.ErrPermissionViolation) {
		return fmt.Errorf("%w; the server said lately: %w", err, said)
	}
	return err
}

// permanent marks errors of the server that trying again cannot cure.
func permanent(err error) error {
	var refusal *jetstream.APIError
	switch {
	case err == nil || errors.Is(err, tenure.ErrPermanent):
		return err
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return tenure.Permanent(err)
	case errors.As(err, &refusal) && refusal.ErrorCode == codeNotClustered:
		return tenure.Permanent(err)
	}
	return err
}

// starting reports whether an error is what servers say that do not know each other yet.
func starting(err error) bool {
	var refusal *jetstream.APIError
	return errors.As(err, &refusal) && (refusal.ErrorCode == codeNoPeers || refusal.ErrorCode == codeNotAvailable)
}
