package memcached

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/bradfitz/gomemcache/memcache"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/storeurl"
)

const defaultPort = "11211"

// New returns a store over the user's client, which stays theirs. Its timeout bounds how long a call goes on after its
// context has ended. Every process that takes part needs a client that picks the same server for the same key: with
// [memcache.New], the same servers in the same order.
//
// The error wraps [tenure.ErrConfig] if there is no client or an option is out of bounds.
func New(client *memcache.Client, options ...Option) (*Store, error) {
	c, err := newConfig(options)
	if err == nil && client == nil {
		err = fmt.Errorf("%w: the client is nil", tenure.ErrConfig)
	}
	if err != nil {
		return nil, fmt.Errorf("memcached: %w", err)
	}
	return &Store{client: client, config: c, seen: newSeen(c.observe)}, nil
}

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

// Close ends the store, and the client if [Open] made it. It waits for requests under way, for as long as the client's
// timeout at most. Close may be called more than once. The error is that of closing the client's connections.
func (s *Store) Close() error {
	s.calls.close()
	if s.owned {
		return s.client.Close()
	}
	return nil
}

// ping reports whether every server answers.
func (s *Store) ping(ctx context.Context) error {
	_, err := do(ctx, &s.calls, func() (struct{}, error) { return struct{}{}, s.client.Ping() })
	if err != nil {
		return failed(err)
	}
	return nil
}

// location is what a URL says.
type location struct {
	servers []string
	prefix  string
	timeout time.Duration
}

// String names the servers, as errors do.
func (l location) String() string { return strings.Join(l.servers, ",") }

// parse reads a URL by hand where package url would not take several hosts with ports.
func parse(rawURL string) (location, error) {
	rest, ok := strings.CutPrefix(rawURL, "memcached://")
	if !ok {
		return location{}, fmt.Errorf("%w: the URL does not begin with memcached://", tenure.ErrConfig)
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	tail, err := url.Parse(rest[end:])
	if err != nil || tail.Fragment != "" || strings.Contains(rest[:end], "@") {
		return location{}, fmt.Errorf("%w: want memcached://HOST[:PORT][,HOST[:PORT]…][/PREFIX][?timeout=500ms], "+
			"without a user or password, which this store has no use for", tenure.ErrConfig)
	}
	at := location{prefix: storeurl.Prefix(tail.Path, defaultPrefix)}
	if at.servers, err = serversOf(rest[:end]); err != nil {
		return location{}, err
	}
	at.timeout, err = timeoutOf(tail.RawQuery)
	return at, err
}

// serversOf sorts the servers, since a key's server is found by its place in the list.
func serversOf(hosts string) ([]string, error) {
	var servers []string
	for _, server := range strings.Split(hosts, ",") {
		host, port, err := net.SplitHostPort(server)
		if err != nil {
			host, port = strings.Trim(server, "[]"), defaultPort
		}
		if host == "" || port == "" {
			return nil, fmt.Errorf("%w: server %q: want HOST or HOST:PORT", tenure.ErrConfig, server)
		}
		servers = append(servers, net.JoinHostPort(host, port))
	}
	slices.Sort(servers)
	if len(slices.Compact(slices.Clone(servers))) < len(servers) {
		return nil, fmt.Errorf("%w: a server is named twice in %s", tenure.ErrConfig, hosts)
	}
	return servers, nil
}

func timeoutOf(rawQuery string) (time.Duration, error) {
	parameters, err := storeurl.Parameters(rawQuery, "timeout")
	if err != nil {
		return 0, fmt.Errorf("%w: %w", tenure.ErrConfig, err)
	}
	text, ok := parameters["timeout"]
	if !ok {
		return memcache.DefaultTimeout, nil
	}
	timeout, err := time.ParseDuration(text)
	if err != nil || timeout <= 0 {
		return 0, fmt.Errorf("%w: timeout %q: want a duration above zero such as 500ms", tenure.ErrConfig, text)
	}
	return timeout, nil
}
