package redis

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure/internal/storeurl"
)

// Open returns the store at a URL, with a client of its own, once the server has answered:
//
//	redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE][?…]                        one server
//	redis+sentinel://[USER:PASSWORD@]HOST[:PORT][,…]/MASTER[/DATABASE][?…]    a master by its Sentinels
//	redis+cluster://[USER:PASSWORD@]HOST[:PORT][,…][?…]                       a Cluster by some of its nodes
//
// With rediss in place of redis all connections use TLS 1.2 or later. The default port is 6379, of a Sentinel 26379.
// The user is the server's; ":PASSWORD@" is the default user's. Parameters:
//
//	prefix           see WithPrefix
//	ping             see WithPing, as in 1m
//	replicas         see WithReplicas; its timeout is
//	replica_timeout  by default 500ms
//	password_file    holds the password, and is read for every connection, so that a new one is found
//	sentinel_user, sentinel_password_file
//	                 for Sentinels that want a user or a password of their own
//	ca_file          with the certificates of the authorities to trust, instead of the system's
//	cert_file, key_file
//	                 the client's own certificate and key
//	server_name      the name that the server's certificate has to be for, by default the host
//	dial_timeout     for a new connection, by default 5s
//
// Options override parameters. The error wraps [tenure.ErrConfig] if the URL is not understood; it never contains a
// password.
func Open(ctx context.Context, rawURL string, options ...Option) (*Store, error) {
	at, err := parse(rawURL)
	if err != nil {
		return nil, fmt.Errorf("redis: opening: %w", err)
	}
	options = append(at.options, options...)
	if _, err := newConfig(options); err != nil {
		return nil, fmt.Errorf("redis: opening %s: %w", at, err)
	}
	client := at.connect()
	s, err := New(client, options...)
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	s.owned = true
	if _, err := call(ctx, false, func() (string, error) { return client.Ping(ctx).Result() }); err != nil {
		return nil, errors.Join(fmt.Errorf("redis: opening %s: %w", at, failed(err)), s.Close())
	}
	return s, nil
}

// connect makes the client. It connects when it is used.
func (l *location) connect() redis.UniversalClient {
	o := redis.UniversalOptions{
		Addrs: l.hosts, DB: l.db, MasterName: l.master, TLSConfig: l.tls, ContextTimeoutEnabled: true,
		Username: l.user.name, Password: l.user.password,
		SentinelUsername: l.sentinel.name, SentinelPassword: l.sentinel.password,
		DialTimeout: l.dialTimeout,
	}
	if l.user.file != "" {
		o.CredentialsProviderContext = func(context.Context) (string, string, error) {
			password, err := storeurl.ReadPassword(l.user.file)
			return l.user.name, password, err
		}
	}
	switch l.kind {
	case sentinelKind:
		return redis.NewFailoverClient(o.Failover())
	case clusterKind:
		return redis.NewClusterClient(o.Cluster())
	case serverKind:
	}
	return redis.NewClient(o.Simple())
}
