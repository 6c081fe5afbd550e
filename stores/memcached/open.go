package memcached

import (
	"context"
	"errors"
	"fmt"

	"github.com/bradfitz/gomemcache/memcache"
)

// Open returns the store at a URL, with a client of its own, once every server has answered:
//
//	memcached://HOST[:PORT][,HOST[:PORT]…][/PREFIX][?timeout=500ms]
//
// The default port is 11211. The order of the servers does not matter, but all processes have to spell them alike. A
// prefix ends in a slash in the keys, whether or not it does in the URL; [WithPrefix] overrides it. timeout bounds one
// request.
//
// The error wraps [tenure.ErrConfig] if the URL has another form.
func Open(ctx context.Context, rawURL string, options ...Option) (*Store, error) {
	at, err := parse(rawURL)
	if err == nil {
		options = append([]Option{WithPrefix(at.prefix)}, options...)
		_, err = newConfig(options)
	}
	if err != nil {
		return nil, fmt.Errorf("memcached: opening: %w", err)
	}
	var servers memcache.ServerList
	if err := servers.SetServers(at.servers...); err != nil {
		return nil, fmt.Errorf("memcached: opening %s: %w", at, err)
	}
	client := memcache.NewFromSelector(&servers)
	client.Timeout = at.timeout
	s, err := New(client, options...)
	if err != nil {
		return nil, err
	}
	s.owned = true
	if err := s.ping(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("memcached: opening %s: %w", at, err), s.Close())
	}
	return s, nil
}

// ping reports whether every server answers.
func (s *Store) ping(ctx context.Context) error {
	_, err := do(ctx, &s.calls, func() (struct{}, error) { return struct{}{}, s.client.Ping() })
	if err != nil {
		return failed(err)
	}
	return nil
}
