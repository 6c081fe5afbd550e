package etcd

import (
	"crypto/tls"
	"fmt"
	"slices"
	"strings"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/storeurl"
)

// defaultPort is that of etcd for clients.
const defaultPort = "2379"

// parameters are those of a store's URL. README.md describes them.
var parameters = slices.Concat([]string{"ping", "password_file"}, storeurl.TLSParameters)

// location is what a URL says.
type location struct {
	hosts    []string
	user     string
	password string
	tls      *tls.Config // nil without TLS
	options  []Option
}

// String names the servers, as errors do.
func (l *location) String() string { return strings.Join(l.hosts, ",") }

// endpoints are the servers as the client wants them.
func (l *location) endpoints() []string {
	scheme := "http://"
	if l.tls != nil {
		scheme = "https://"
	}
	endpoints := make([]string, len(l.hosts))
	for i, host := range l.hosts {
		endpoints[i] = scheme + host
	}
	return endpoints
}

func refused(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{tenure.ErrConfig}, args...)...)
}

func parse(rawURL string) (*location, error) {
	scheme, authority, tail, err := storeurl.Split(rawURL)
	if err != nil {
		return nil, refused("%w", err)
	}
	if scheme != "etcd" && scheme != "etcds" {
		return nil, refused("want a URL that begins with etcd://, or with etcds:// for TLS")
	}
	l := &location{options: []Option{WithPrefix(storeurl.Prefix(tail.Path, DefaultPrefix))}}
	read, err := storeurl.Parameters(tail.RawQuery, parameters...)
	if err != nil {
		return nil, refused("%w", err)
	}
	for _, step := range []func() error{
		func() error { return l.setAuthority(authority, read) },
		func() error { return l.setTLS(scheme == "etcds", read) },
		func() error { return l.setOptions(read) },
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (l *location) setAuthority(authority string, read map[string]string) error {
	who, hosts, err := storeurl.Authority(authority, defaultPort)
	if err != nil {
		return refused("%w", err)
	}
	l.hosts = hosts
	l.user = who.Username()
	l.password, _ = who.Password()
	if path, ok := read["password_file"]; ok {
		if l.password != "" {
			return refused("there is a password in the URL and a password_file: want one of them")
		}
		if l.password, err = storeurl.ReadPassword(path); err != nil {
			return refused("password_file: %w", err)
		}
	}
	if (l.user == "") != (l.password == "") {
		return refused("a user and a password belong together: want etcd://USER:PASSWORD@HOST, or USER@ and a password_file")
	}
	return nil
}

func (l *location) setTLS(secure bool, read map[string]string) (err error) {
	if secure {
		if l.tls, err = storeurl.TLS(read); err != nil {
			return refused("%w", err)
		}
		return nil
	}
	for _, name := range storeurl.TLSParameters {
		if _, ok := read[name]; ok {
			return refused("%s is for TLS alone: want etcds://", name)
		}
	}
	return nil
}

func (l *location) setOptions(read map[string]string) error {
	text, ok := read["ping"]
	if !ok {
		return nil
	}
	silence, err := storeurl.Duration(text)
	if err != nil {
		return refused("ping: %w", err)
	}
	l.options = append(l.options, WithPing(silence))
	return nil
}
