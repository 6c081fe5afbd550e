package tenuregrpc

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// statusError is an error with a code for the caller and a cause for errors.Is.
type statusError struct {
	code  codes.Code
	text  string
	cause error
}

func (e *statusError) Error() string { return e.GRPCStatus().String() }

func (e *statusError) Unwrap() error { return e.cause }

// GRPCStatus is what package status looks for.
func (e *statusError) GRPCStatus() *status.Status { return status.New(e.code, e.text) }

// endOf is the error of a call whose work has ended: because the call itself did, or the term.
func endOf(request, work context.Context) error {
	if err := request.Err(); err != nil {
		return status.FromContextError(err).Err()
	}
	cause := context.Cause(work)
	return &statusError{
		codes.Aborted, fmt.Sprintf("the call was ended, and may have been carried out in part: %v", cause), cause,
	}
}

// result is what a handler's error means to the caller: one that gave up because its work's context had ended says
// Canceled, as if the caller had ended the call.
func result(request, work context.Context, err error) error {
	if err == nil || work.Err() == nil || request.Err() != nil {
		return err
	}
	if errors.Is(err, context.Canceled) || status.Code(err) == codes.Canceled {
		return endOf(request, work)
	}
	return err
}
