package natskv

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenure-go/tenure/internal/storeurl"
)

// parameters are those of a store's URL. README.md describes them.
var parameters = []string{
	"servers", "replicas", "storage", "cluster", "tags", "description", "create", "sync", "heartbeat", "domain",
	"creds", "nkey", "tls_ca", "tls_cert", "tls_key", "inbox_prefix", "name",
}

// location is what a URL says.
type location struct {
	shown   string // without what must not be seen
	bucket  string
	servers []string
	domain  string
	dial    []nats.Option
	options []Option
}

func parse(rawURL string) (*location, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		// err may hold a password.
		return nil, errors.New("the store's address is no URL; want nats://host:4222/bucket, with further servers in " +
			"?servers=host:4222,host:4222 and with what is not plain in a password written %xx")
	}
	l := &location{shown: u.Scheme + "://" + u.Host + u.Path, bucket: strings.TrimPrefix(u.Path, "/")}
	switch {
	case u.Scheme != "nats" && u.Scheme != "tls":
		return nil, fmt.Errorf("%s: the scheme is %q; want nats or tls", l.shown, u.Scheme)
	case u.Hostname() == "":
		return nil, fmt.Errorf("%s: no host is named; want nats://host:4222/bucket", l.shown)
	case l.bucket == "":
		return nil, fmt.Errorf("%s: no bucket is named; want %s://%s/bucket", l.shown, u.Scheme, u.Host)
	case u.Fragment != "":
		return nil, fmt.Errorf("%s: the fragment #%s means nothing; in a password, write %%23", l.shown, "…")
	}
	query, err := storeurl.Parameters(u.RawQuery, parameters...)
	if err == nil {
		err = l.read(u, query)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.shown, err)
	}
	return l, nil
}

func (l *location) read(u *url.URL, query map[string]string) error {
	secure := u.Scheme == "tls" || query["tls_ca"] != "" || query["tls_cert"] != ""
	l.servers = []string{server(u.Host, secure)}
	if more := query["servers"]; more != "" {
		for host := range strings.SplitSeq(more, ",") {
			if host == "" || strings.ContainsAny(host, "/@") {
				return fmt.Errorf("servers: want host:port,host:port, not %q", "…")
			}
			l.servers = append(l.servers, server(host, secure))
		}
	}
	l.domain = query["domain"]
	l.dial = connection(query["name"])
	if err := l.credentials(u, query); err != nil {
		return err
	}
	if err := l.security(secure, query); err != nil {
		return err
	}
	if query["create"] == "false" && (query["cluster"] != "" || query["tags"] != "" || query["description"] != "") {
		return errors.New("placement and description are for a bucket that is made, and create=false makes none")
	}
	return l.settings(query)
}

func server(host string, secure bool) string {
	scheme := "nats://"
	if secure {
		scheme = "tls://"
	}
	if _, _, err := net.SplitHostPort(host); err != nil {
		host = net.JoinHostPort(strings.Trim(host, "[]"), strconv.Itoa(nats.DefaultPort))
	}
	return scheme + host
}

func (l *location) credentials(u *url.URL, query map[string]string) error {
	var ways int
	if u.User != nil {
		ways++
		password, hasPassword := u.User.Password()
		if hasPassword {
			l.dial = append(l.dial, nats.UserInfo(u.User.Username(), password))
		} else {
			l.dial = append(l.dial, nats.Token(u.User.Username()))
		}
	}
	if file := query["creds"]; file != "" {
		ways++
		l.dial = append(l.dial, nats.UserCredentials(file))
	}
	if file := query["nkey"]; file != "" {
		ways++
		option, err := nats.NkeyOptionFromSeed(file)
		if err != nil {
			return fmt.Errorf("nkey: %w", err)
		}
		l.dial = append(l.dial, option)
	}
	if ways > 1 {
		return errors.New("user, creds and nkey are different ways to say who one is: give one of them")
	}
	if prefix := query["inbox_prefix"]; prefix != "" {
		l.dial = append(l.dial, nats.CustomInboxPrefix(prefix))
	}
	return nil
}

func (l *location) security(secure bool, query map[string]string) error {
	cert, key := query["tls_cert"], query["tls_key"]
	if (cert == "") != (key == "") {
		return errors.New("tls_cert and tls_key go together")
	}
	if cert != "" {
		l.dial = append(l.dial, nats.ClientCert(cert, key))
	}
	if ca := query["tls_ca"]; ca != "" {
		l.dial = append(l.dial, nats.RootCAs(ca))
	}
	if secure {
		l.dial = append(l.dial, nats.Secure()) // never without, whatever the server offers
	}
	return nil
}

// settings turns parameters into options.
func (l *location) settings(query map[string]string) error {
	for _, p := range []struct {
		name string
		set  func(value string) (Option, error)
	}{
		{"replicas", replicasOf},
		{"storage", storageOf},
		{"create", createOf},
		{"sync", syncOf},
		{"heartbeat", heartbeatOf},
	} {
		if value := query[p.name]; value != "" {
			o, err := p.set(value)
			if err != nil {
				return fmt.Errorf("%s=%s: %w", p.name, value, err)
			}
			l.options = append(l.options, o)
		}
	}
	if query["cluster"] != "" || query["tags"] != "" {
		var tags []string
		if query["tags"] != "" {
			tags = strings.Split(query["tags"], ",")
		}
		l.options = append(l.options, WithPlacement(query["cluster"], tags...))
	}
	if text := query["description"]; text != "" {
		l.options = append(l.options, WithDescription(text))
	}
	return nil
}

func replicasOf(value string) (Option, error) {
	n, err := strconv.Atoi(value)
	if err != nil {
		return nil, errors.New("want a number")
	}
	return WithReplicas(n), nil
}

func storageOf(value string) (Option, error) {
	switch value {
	case "file":
		return WithStorage(jetstream.FileStorage), nil
	case "memory":
		return WithStorage(jetstream.MemoryStorage), nil
	}
	return nil, errors.New("want file or memory")
}

func createOf(value string) (Option, error) {
	switch value {
	case "true":
		return nil, nil // the default
	case "false":
		return WithExistingBucket(), nil
	}
	return nil, errors.New("want true or false")
}

func syncOf(value string) (Option, error) {
	if value != "always" {
		return nil, errors.New("want always, which states that the servers run with sync_interval: always")
	}
	return WithSyncedServers(), nil
}

func heartbeatOf(value string) (Option, error) {
	d, err := storeurl.Duration(value)
	if err != nil {
		return nil, err
	}
	return WithHeartbeat(d), nil
}
