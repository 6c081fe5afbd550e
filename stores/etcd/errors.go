package etcd

import (
	"errors"
	"fmt"
	"strings"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tenure-go/tenure"
)

var (
	errClosed       = tenure.Permanent(errors.New("the store is closed"))
	errClientClosed = tenure.Permanent(errors.New("the client of etcd was closed by its owner"))
	errConflict     = fmt.Errorf("%w: the record has changed", tenure.ErrConflict)
	errSilent       = errors.New("the member has given no sign of life")
	errBehind       = errors.New("the member is behind what was seen before")
	errCompacted    = errors.New("the revisions to watch from were compacted")
)

// dropped is what a member says of a proposal that it has not passed on, as while its leadership moves. It is not among
// the errors that etcd gives names to.
const dropped = "raft proposal dropped"

// later are refusals of a write that may be accepted at another time or by another member. All of them come before
// anything is proposed to the others, or when every member skips the proposal alike: a member without a leader, a
// learner, too much that waits to be applied, a token of a login that has run out, permissions that changed meanwhile,
// a password that is being changed, a database that is full.
var later = []error{
	rpctypes.ErrNoLeader, rpctypes.ErrTooManyRequests, rpctypes.ErrNoSpace,
	rpctypes.Error(rpctypes.ErrGRPCNotSupportedForLearner), rpctypes.ErrInvalidAuthToken,
	rpctypes.ErrAuthOldRevision, rpctypes.ErrAuthFailed,
}

// never are refusals that trying again cannot cure.
var never = []error{rpctypes.ErrRequestTooLarge, rpctypes.ErrPermissionDenied, rpctypes.ErrUserEmpty}

// refusal marks an error by which a member says for certain that it has not carried a write out, and returns nil for
// any other. Timeouts, lost connections, stopped members and changes of the leader say nothing for certain.
func refusal(err error) error {
	named := rpctypes.Error(err)
	switch {
	case is(named, never), tooLarge(err):
		return tenure.Permanent(err)
	case is(named, later), status.Code(err) == codes.Unknown && rpctypes.ErrorDesc(err) == dropped:
		return tenure.NotApplied(err, 0)
	}
	return nil
}

func is(err error, known []error) bool {
	for _, one := range known {
		if errors.Is(err, one) {
			return true
		}
	}
	return false
}

// tooLarge reports whether a message was too large for the client to send or for the member to take. gRPC has no
// other name for it.
func tooLarge(err error) bool {
	return status.Code(err) == codes.ResourceExhausted &&
		strings.Contains(rpctypes.ErrorDesc(err), "message larger than max")
}

// failed marks what trying again cannot cure, of requests that write nothing.
func (s *Store) failed(err error) error {
	switch {
	case err == nil || errors.Is(err, tenure.ErrPermanent):
		return err
	case s.usable() != nil:
		return fmt.Errorf("%w: %w", s.usable(), err)
	case is(rpctypes.Error(err), never):
		return tenure.Permanent(err)
	}
	return err
}
