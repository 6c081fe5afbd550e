package redis

import (
	"crypto/tls"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/storeurl"
)

// defaultReplicaTimeout is that of replicas without the parameter replica_timeout.
const defaultReplicaTimeout = 500 * time.Millisecond

// location is what a URL says.
type location struct {
	kind        kind
	hosts       []string
	master      string // by which Sentinels know it
	db          int
	user        user
	sentinel    user
	tls         *tls.Config // nil without TLS
	dialTimeout time.Duration
	options     []Option
}

// user is who connects. The password in a file goes before the other.
type user struct{ name, password, file string }

type kind uint8

const (
	serverKind kind = iota
	sentinelKind
	clusterKind
)

// schemes are the kinds of URL, without and with TLS.
var schemes = map[string]kind{
	"redis": serverKind, "redis+sentinel": sentinelKind, "redis+cluster": clusterKind,
	"rediss": serverKind, "rediss+sentinel": sentinelKind, "rediss+cluster": clusterKind,
}

var defaultPorts = map[kind]string{serverKind: "6379", sentinelKind: "26379", clusterKind: "6379"}

// String names the servers, as errors do.
func (l *location) String() string { return strings.Join(l.hosts, ",") }

func refused(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{tenure.ErrConfig}, args...)...)
}

func parse(rawURL string) (*location, error) {
	scheme, authority, tail, err := storeurl.Split(rawURL)
	if err != nil {
		return nil, refused("%w", err)
	}
	kind, ok := schemes[scheme]
	if !ok {
		return nil, refused("want a URL that begins with redis://, redis+sentinel:// or redis+cluster://, " +
			"or with rediss for TLS")
	}
	l := &location{kind: kind}
	secure := strings.HasPrefix(scheme, "rediss")
	for _, step := range []func() error{
		func() error { return l.setAuthority(authority) },
		func() error { return l.setPath(tail.Path) },
		func() error { return l.setParameters(tail.RawQuery, secure) },
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (l *location) setAuthority(authority string) error {
	who, hosts, err := storeurl.Authority(authority, defaultPorts[l.kind])
	if err != nil {
		return refused("%w", err)
	}
	l.hosts = hosts
	l.user.name = who.Username()
	l.user.password, _ = who.Password()
	if l.kind == serverKind && len(l.hosts) > 1 {
		return refused("%d servers: want one, or redis+sentinel:// or redis+cluster://", len(l.hosts))
	}
	return nil
}

// setPath reads /DATABASE, with the name of the master before it for Sentinels.
func (l *location) setPath(path string) error {
	words := slices.DeleteFunc(strings.Split(path, "/"), func(word string) bool { return word == "" })
	if l.kind == sentinelKind {
		if len(words) == 0 {
			return refused("want redis+sentinel://HOST/MASTER, with the name by which the Sentinels know the master")
		}
		l.master, words = words[0], words[1:]
	}
	switch {
	case len(words) == 0:
		return nil
	case l.kind == clusterKind:
		return refused("path %q: a Cluster has no databases", path)
	case len(words) > 1:
		return refused("path %q: want the number of a database", path)
	}
	db, err := strconv.ParseUint(words[0], 10, 31)
	if err != nil {
		return refused("database %q: want a number", words[0])
	}
	l.db = int(db)
	return nil
}

// parameters of the URL, each of which may be there once.
type parameters map[string]string

var parameterNames = []string{
	"prefix", "ping", "replicas", "replica_timeout", "password_file", "sentinel_user", "sentinel_password_file",
	"ca_file", "cert_file", "key_file", "server_name", "dial_timeout",
}

func (l *location) setParameters(rawQuery string, secure bool) error {
	read, err := storeurl.Parameters(rawQuery, parameterNames...)
	if err != nil {
		return refused("%w", err)
	}
	p := parameters(read)
	l.user.file = p["password_file"]
	if l.user.file != "" && l.user.password != "" {
		return refused("there is a password in the URL and a password_file: want one of them")
	}
	if _, err := p.password("password_file"); err != nil {
		return err
	}
	if err := l.setSentinel(p); err != nil {
		return err
	}
	if l.dialTimeout, err = p.duration("dial_timeout"); err != nil {
		return err
	}
	if l.tls, err = p.tls(secure); err != nil {
		return err
	}
	l.options, err = p.options()
	return err
}

func (l *location) setSentinel(p parameters) error {
	l.sentinel.name = p["sentinel_user"]
	password, err := p.password("sentinel_password_file")
	l.sentinel.password = password
	if err == nil && l.kind != sentinelKind && l.sentinel != (user{}) {
		return refused("sentinel_user and sentinel_password_file are for redis+sentinel:// alone")
	}
	return err
}

// duration returns zero if there is no such parameter.
func (p parameters) duration(name string) (time.Duration, error) {
	text, ok := p[name]
	if !ok {
		return 0, nil
	}
	d, err := storeurl.Duration(text)
	switch {
	case err != nil:
		return 0, refused("%s: %w", name, err)
	case d < 0:
		return 0, refused("%s %v must not be negative", name, d)
	}
	return d, nil
}

func (p parameters) options() ([]Option, error) {
	var options []Option
	if prefix, ok := p["prefix"]; ok {
		options = append(options, WithPrefix(prefix))
	}
	if _, ok := p["ping"]; ok {
		silence, err := p.duration("ping")
		if err != nil {
			return nil, err
		}
		options = append(options, WithPing(silence))
	}
	timeout, err := p.duration("replica_timeout")
	switch {
	case err != nil:
		return nil, err
	case timeout == 0:
		timeout = defaultReplicaTimeout
	}
	if text, ok := p["replicas"]; ok {
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, refused("replicas %q: want a number", text)
		}
		return append(options, WithReplicas(n, timeout)), nil
	}
	if _, ok := p["replica_timeout"]; ok {
		return nil, refused("replica_timeout is of no use without replicas")
	}
	return options, nil
}
