package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/tenure-go/tenure"
)

var errClosed = tenure.Permanent(errors.New("the store is closed"))

// failed says what is known of a request that changes nothing.
func (s *Store) failed(err error, asked *time.Duration) error {
	switch {
	case apierrors.IsForbidden(err):
		return s.forbidden(err)
	case apierrors.IsTooManyRequests(err):
		return tenure.NotApplied(err, waitOf(err, asked))
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsMethodNotSupported(err):
		return tenure.Permanent(err)
	}
	return err
}

// writeFailed says what is known of the outcome of a write that was sent, or was to be. What it does not know for
// certain it returns as it is: unknown. So are 500, 503 and 504, which the API server also answers when etcd has not
// told it in time what became of a write.
func (s *Store) writeFailed(err error, asked *time.Duration) error {
	switch {
	case apierrors.IsUnauthorized(err), utilnet.IsConnectionRefused(err):
		return tenure.NotApplied(err, 0)
	case apierrors.IsRequestEntityTooLargeError(err):
		return tenure.Permanent(err)
	}
	return s.failed(err, asked)
}

// forbidden makes a missing right permanent. An API server that has just started can forbid what it allows a moment
// later, when it has read its roles; so what it has allowed before is not given up for that.
func (s *Store) forbidden(err error) error {
	if s.allowed.Load() {
		return tenure.NotApplied(err, 0)
	}
	return tenure.Permanent(err)
}

// waitOf returns how long the server asks to be left alone.
func waitOf(err error, asked *time.Duration) time.Duration {
	seconds, _ := apierrors.SuggestsClientDelay(err)
	return max(*asked, time.Duration(seconds)*time.Second)
}

// unknown is for a record that may stand, whatever certain thing another request came to.
func unknown(err error) error {
	return fmt.Errorf("a new record was written, and then the floor for its token was not found out: %s", err.Error())
}

// askedKey is that of the context value into which [retryAfter] puts what it heard.
type askedKey struct{}

// hear returns a context for one request, and where the wait stands that the server asked for in its answer.
func hear(ctx context.Context) (context.Context, *time.Duration) {
	asked := new(time.Duration)
	return context.WithValue(ctx, askedKey{}, asked), asked
}
