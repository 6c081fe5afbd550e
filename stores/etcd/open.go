package etcd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/tenure-go/tenure"
)

// How the client that Open makes connects, and finds out that a member does not answer. The members of a cluster refuse
// signs of life that are asked for more often than every five seconds, and gRPC asks every ten at most.
const (
	dialTimeout      = 2 * time.Second
	keepAlive        = 10 * time.Second
	keepAliveTimeout = 3 * time.Second
)

// reconnect spaces the attempts to connect to a member.
var reconnect = backoff.Config{
	BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second,
}

// Open returns the store at a URL, with a client of its own, once a member has answered:
//
//	etcd://[USER:PASSWORD@]HOST[:PORT][,HOST[:PORT]…][/PREFIX][?…]
//
// With etcds in place of etcd all connections use TLS 1.2 or later. The default port is 2379, the default prefix
// tenure. Name all members: requests go to those that are named, in turn. Parameters:
//
//	ping            see WithPing, as in 10s
//	password_file   holds the password of the user, in place of the URL
//	ca_file         with the certificates of the authorities to trust, instead of the system's
//	cert_file, key_file
//	                the client's own certificate and key
//	server_name     the name that the members' certificates have to be for, by default the host
//
// Options override parameters. The error wraps [tenure.ErrConfig] if the URL is not understood; it never contains a
// password.
func Open(ctx context.Context, rawURL string, options ...Option) (*Store, error) {
	l, err := parse(rawURL)
	if err != nil {
		return nil, fmt.Errorf("etcd: opening: %w", err)
	}
	s, err := l.open(ctx, append(l.options, options...))
	if err != nil {
		return nil, fmt.Errorf("etcd: opening %s: %w", l, err)
	}
	return s, nil
}

func (l *location) open(ctx context.Context, options []Option) (*Store, error) {
	if _, err := newConfig(options); err != nil {
		return nil, err
	}
	client, err := l.connect(ctx)
	if errors.Is(rpctypes.Error(err), rpctypes.ErrAuthFailed) {
		return nil, tenure.Permanent(err)
	}
	if err != nil {
		return nil, err
	}
	s, err := New(client, options...)
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	s.owned = true
	if _, err := s.get(ctx, s.names.floor()); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// connect makes the client. With a user it logs in, without one it connects when it is used.
func (l *location) connect(ctx context.Context) (*clientv3.Client, error) {
	timeout := dialTimeout
	if deadline, ok := ctx.Deadline(); ok {
		timeout = min(timeout, time.Until(deadline))
	}
	if err := ctx.Err(); err != nil || timeout <= 0 {
		return nil, context.DeadlineExceeded
	}
	return clientv3.New(clientv3.Config{
		Endpoints: l.endpoints(), Username: l.user, Password: l.password, TLS: l.tls, DialTimeout: timeout,
		DialKeepAliveTime: keepAlive, DialKeepAliveTimeout: keepAliveTimeout,
		// The store repeats nothing by itself, and so the client does not either.
		MaxUnaryRetries: 1,
		// The client's own logger prints.
		Logger: zap.NewNop(),
		DialOptions: []grpc.DialOption{
			grpc.WithConnectParams(grpc.ConnectParams{Backoff: reconnect, MinConnectTimeout: dialTimeout}),
		},
	})
}
