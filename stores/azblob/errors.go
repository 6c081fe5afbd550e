package azblob

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/objectstore"
)

// leased are the codes by which the service refuses to change a blob that somebody holds a lease on.
var leased = []bloberror.Code{
	bloberror.LeaseIDMissing, bloberror.LeaseIDMismatchWithBlobOperation, bloberror.LeaseLost,
}

// read says what is known of a failed request that changes nothing.
func (b *blobs) read(err error) error {
	if bloberror.HasCode(err, bloberror.BlobNotFound) || b.create && bloberror.HasCode(err, bloberror.ContainerNotFound) {
		b.worked.Store(true)
		return objectstore.ErrMissing
	}
	return b.failed(err)
}

// write says what is known of a failed request that changes something.
func (b *blobs) write(err error) error {
	status := status(err)
	switch {
	case bloberror.HasCode(err, leased...):
		return tenure.NotApplied(fmt.Errorf("another program holds a lease on the record's own blob: %w", err), 0)
	case status == http.StatusPreconditionFailed,
		bloberror.HasCode(err, bloberror.BlobAlreadyExists, bloberror.BlobNotFound):
		b.worked.Store(true)
		return tenure.ErrConflict
	case status == http.StatusConflict: // another operation is in the way, on the blob or on the container
		return tenure.NotApplied(err, wait(err))
	}
	return b.failed(err)
}

func (b *blobs) failed(err error) error {
	err = withoutSignature(err)
	status := status(err)
	switch {
	case undialled(err):
		return tenure.NotApplied(err, 0)
	case status == http.StatusTooManyRequests, bloberror.HasCode(err, bloberror.ServerBusy):
		return tenure.NotApplied(err, wait(err))
	case expired(err) && b.worked.Load(): // what has worked may be renewed, by the client or by its owner
		return tenure.NotApplied(err, 0)
	case status == http.StatusRequestTimeout:
		return err
	case status >= 300 && status < 500, status == http.StatusNotImplemented:
		return tenure.Permanent(err)
	}
	return err
}

// expired reports whether the service does not accept the credentials, as opposed to what they allow.
func expired(err error) bool {
	return status(err) == http.StatusUnauthorized ||
		bloberror.HasCode(err, bloberror.AuthenticationFailed, bloberror.InvalidAuthenticationInfo)
}

// withoutSignature leaves out of an error the query of the URL, in which there can be a shared access signature.
func withoutSignature(err error) error {
	var failure *url.Error
	if !errors.As(err, &failure) {
		return err
	}
	at, _, _ := strings.Cut(failure.URL, "?")
	return &url.Error{Op: failure.Op, URL: at, Err: failure.Err}
}

// undialled reports whether there never was a connection.
func undialled(err error) bool {
	var failure *net.OpError
	return errors.As(err, &failure) && failure.Op == "dial"
}

// status returns the status of the answer, zero if there was none.
func status(err error) int {
	var answer *azcore.ResponseError
	if errors.As(err, &answer) {
		return answer.StatusCode
	}
	return 0
}

// wait returns how long the service asks to wait, zero if it does not say.
func wait(err error) time.Duration {
	var answer *azcore.ResponseError
	if !errors.As(err, &answer) || answer.RawResponse == nil {
		return 0
	}
	header := answer.RawResponse.Header
	for _, h := range []struct { // the most exact first
		name string
		unit time.Duration
	}{{"x-ms-retry-after-ms", time.Millisecond}, {"retry-after-ms", time.Millisecond}, {"Retry-After", time.Second}} {
		if n, err := strconv.Atoi(header.Get(h.name)); err == nil {
			return time.Duration(n) * h.unit
		}
	}
	if at, err := http.ParseTime(header.Get("Retry-After")); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
