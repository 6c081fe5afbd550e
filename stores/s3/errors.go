package s3

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/objectstore"
)

// Codes by which a server refuses a request that may be repeated. A status alone does not tell: 503 without one of
// these may come from a gateway that has passed the request on.
var (
	throttled = []string{
		"SlowDown", "SlowDownRead", "SlowDownWrite", "RequestLimitExceeded", "Throttling", "ThrottlingException",
		"TooManyRequests", "TooManyRequestsException",
	}
	// The usual chain of credentials renews them by itself; until it has, the server refuses.
	expired = []string{
		"ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired", "RequestExpired", "RequestTimeTooSkewed",
	}
)

// read says what is known of a failed request that changes nothing.
func (r *request) read(err error) error {
	if status(err) == http.StatusNotFound && code(err) != "NoSuchBucket" {
		return objectstore.ErrMissing
	}
	return r.failed(err)
}

// write says what is known of a failed request that changes something.
func (r *request) write(err error) error {
	switch status := status(err); {
	case status == http.StatusPreconditionFailed, status == http.StatusNotFound && code(err) != "NoSuchBucket":
		return tenure.ErrConflict
	case status == http.StatusConflict: // another write is under way; this one was given up in its favour
		return tenure.NotApplied(err, wait(err))
	}
	return r.failed(err)
}

func (r *request) failed(err error) error {
	status := status(err)
	switch {
	case !r.sent.Load(), undialled(err): // no credentials, no endpoint, no connection
		return tenure.NotApplied(err, 0)
	case status == http.StatusTooManyRequests, slices.Contains(throttled, code(err)):
		return tenure.NotApplied(err, wait(err))
	case slices.Contains(expired, code(err)):
		return tenure.NotApplied(err, 0)
	case status == http.StatusForbidden:
		return tenure.Permanent(fmt.Errorf("%w (s3:GetObject, s3:PutObject, s3:DeleteObject and s3:ListBucket are needed: "+
			"without the last one a missing object is denied, too)", err))
	case status == http.StatusRequestTimeout, code(err) == "RequestTimeout", code(err) == "OperationAborted":
		return err
	case status >= 300 && status < 500, status == http.StatusNotImplemented:
		return tenure.Permanent(err)
	}
	return err
}

// undialled reports whether there never was a connection.
func undialled(err error) bool {
	var failure *net.OpError
	return errors.As(err, &failure) && failure.Op == "dial"
}

// status returns the status of the answer, zero if there was none.
func status(err error) int {
	var answer *awshttp.ResponseError
	if errors.As(err, &answer) {
		return answer.HTTPStatusCode()
	}
	return 0
}

func code(err error) string {
	var failure smithy.APIError
	if errors.As(err, &failure) {
		return failure.ErrorCode()
	}
	return ""
}

// wait returns how long the server asks to wait, zero if it does not say.
func wait(err error) time.Duration {
	var answer *awshttp.ResponseError
	if !errors.As(err, &answer) || answer.Response == nil {
		return 0
	}
	after := answer.Response.Header.Get("Retry-After")
	if seconds, err := strconv.Atoi(after); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(after); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
