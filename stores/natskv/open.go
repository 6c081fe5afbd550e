package natskv

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenure-go/tenure"
)

// How the connection that Open makes finds out that a server does not answer, and looks for another.
const (
	dialTimeout   = 2 * time.Second
	pingInterval  = 2 * time.Second
	mostPings     = 2 // unanswered
	reconnectWait = 100 * time.Millisecond
)

// Open connects to the servers that a URL names, and returns a store that closes the connection with itself:
//
//	nats://user:password@host:4222/bucket?replicas=3&storage=file
//
// The scheme tls asks for TLS; README.md has the parameters. Options win over them. It fails if no server answers, if
// the bucket is unfit, or if it is missing and cannot be made. The connection survives restarts of servers without a
// limit. The error wraps [tenure.ErrConfig] if the URL or an option is wrong; no password is ever in it.
func Open(ctx context.Context, rawURL string, options ...Option) (*Store, error) {
	l, err := parse(rawURL)
	if err != nil {
		return nil, fmt.Errorf("natskv: %w: %w", tenure.ErrConfig, err)
	}
	s, err := l.open(ctx, append(l.options, options...))
	if err != nil {
		return nil, fmt.Errorf("natskv: opening %s: %w", l.shown, err)
	}
	return s, nil
}

func (l *location) open(ctx context.Context, options []Option) (*Store, error) {
	_, err := newConfig(options)
	if err == nil {
		err = checkBucket(l.bucket)
	}
	if err != nil {
		return nil, err
	}
	conn, err := l.connect(ctx)
	if err != nil {
		return nil, err
	}
	s, err := l.use(ctx, conn, options)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return s, nil
}

func (l *location) use(ctx context.Context, conn *nats.Conn, options []Option) (*Store, error) {
	var js jetstream.JetStream
	var err error
	if l.domain == "" {
		js, err = jetstream.New(conn)
	} else {
		js, err = jetstream.NewWithDomain(conn, l.domain)
	}
	if err != nil {
		return nil, err
	}
	s, err := New(js, l.bucket, options...)
	if err != nil {
		return nil, err
	}
	s.owned = true
	return s, s.settled(ctx)
}

// settled is ready, tried again for a while where a cluster that has just started may say something else soon.
func (s *Store) settled(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var reason error
	for {
		err := s.ready(ctx)
		switch {
		case starting(err):
			reason = err
		case err != nil && reason != nil && ctx.Err() != nil:
			return reason // which says more than that the last attempt was cut short
		default:
			return err
		}
		select {
		case <-time.After(reconnectWait):
		case <-ctx.Done():
		}
	}
}

// connection is how the client of one connection behaves: it never gives up, and keeps nothing to be sent later, when
// nobody waits for it any more.
func connection(name string) []nats.Option {
	if name == "" {
		name = "tenure"
	}
	return []nats.Option{
		nats.Name(name), nats.Timeout(dialTimeout), nats.MaxReconnects(-1),
		nats.ReconnectWait(reconnectWait), nats.ReconnectJitter(reconnectWait, reconnectWait),
		nats.ReconnectBufSize(-1), nats.PingInterval(pingInterval), nats.MaxPingsOutstanding(mostPings),
		// A password that is being changed must not end the process's candidacy.
		nats.IgnoreAuthErrorAbort(),
		nats.ErrorHandler(new(resubscriber).heed), // the client's own prints
	}
}

// connect dials until ctx ends or every server has refused once.
func (l *location) connect(ctx context.Context) (*nats.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	type connected struct {
		conn *nats.Conn
		err  error
	}
	result := make(chan connected, 1)
	go func() {
		conn, err := nats.Connect(strings.Join(l.servers, ","), l.dial...)
		result <- connected{conn, err}
	}()
	select {
	case r := <-result:
		if errors.Is(r.err, nats.ErrAuthorization) {
			return nil, tenure.Permanent(r.err)
		}
		return r.conn, r.err
	case <-ctx.Done():
		go func() {
			if r := <-result; r.err == nil {
				r.conn.Close()
			}
		}()
		return nil, ctx.Err()
	}
}
