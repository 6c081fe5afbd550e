package tenuregrpc

import (
	"context"

	"google.golang.org/grpc"
)

// stream is a server stream whose reads and writes end with the work's context, and not only with the call: a client
// that sends or reads nothing would otherwise keep the handler from returning.
type stream struct {
	grpc.ServerStream
	work context.Context
}

// Context implements [grpc.ServerStream].
func (s *stream) Context() context.Context { return s.work }

// RecvMsg implements [grpc.ServerStream]. After an error the message must not be touched.
func (s *stream) RecvMsg(m any) error {
	return s.bound(func() error { return s.ServerStream.RecvMsg(m) })
}

// SendMsg implements [grpc.ServerStream].
func (s *stream) SendMsg(m any) error {
	return s.bound(func() error { return s.ServerStream.SendMsg(m) })
}

// bound returns when op does or the work ends. An op that is left behind returns when the handler has: the server then
// ends the stream.
func (s *stream) bound(op func() error) error {
	if s.work.Err() != nil {
		return endOf(s.ServerStream.Context(), s.work)
	}
	done := make(chan error, 1)
	go func() { done <- op() }()
	select {
	case err := <-done:
		return err
	case <-s.work.Done():
		return endOf(s.ServerStream.Context(), s.work)
	}
}
