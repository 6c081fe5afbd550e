package memcached

import (
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
	timeout, err := storeurl.Duration(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%w: timeout: %w", tenure.ErrConfig, err)
	case timeout <= 0:
		return 0, fmt.Errorf("%w: the timeout %v must be positive", tenure.ErrConfig, timeout)
	}
	return timeout, nil
}
