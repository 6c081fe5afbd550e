package natskv

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/storeurl"
)

// How the connection that Open makes finds out that a server does not answer, and looks for another.
const (
	dialTimeout   = 2 * time.Second
	pingInterval  = 2 * time.Second
	mostPings     = 2 // unanswered
	reconnectWait = 100 * time.Millisecond
)

// parameters are those of a store's URL. README.md describes them.
var parameters = []string{
	"servers", "replicas", "storage", "cluster", "tags", "description", "create", "sync", "heartbeat", "domain",
	"creds", "nkey", "tls_ca", "tls_cert", "tls_key", "inbox_prefix", "name",
}

// Open connects to the servers that a URL names, and returns a store that closes the connection with itself:
//
//	nats://user:password@host:4222/bucket?replicas=3&storage=file
//
// The scheme tls asks for TLS; README.md has the parameters. Options win over them. It fails if no server answers, if
// the bucket is unfit, or if it is missing and cannot be made. The connection survives restarts of servers without a
// limit. The error wraps [tenure.ErrConfig] if the URL or an option is wrong; no password is ever in it.
func Open(ctx context.Context, rawURL string, options ...Option) (*Store, error) {
	a, err := parse(rawURL)
	if err != nil {
		return nil, fmt.Errorf("natskv: %w: %w", tenure.ErrConfig, err)
	}
	s, err := a.open(ctx, append(a.options, options...))
	if err != nil {
		return nil, fmt.Errorf("natskv: opening %s: %w", a.shown, err)
	}
	return s, nil
}

// address is what a store's URL says.
type address struct {
	shown   string // without what must not be seen
	bucket  string
	servers []string
	domain  string
	dial    []nats.Option
	options []Option
}

func (a *address) open(ctx context.Context, options []Option) (*Store, error) {
	_, err := newConfig(options)
	if err == nil {
		err = checkBucket(a.bucket)
	}
	if err != nil {
		return nil, err
	}
	conn, err := a.connect(ctx)
	if err != nil {
		return nil, err
	}
	s, err := a.use(ctx, conn, options)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return s, nil
}

func (a *address) use(ctx context.Context, conn *nats.Conn, options []Option) (*Store, error) {
	var js jetstream.JetStream
	var err error
	if a.domain == "" {
		js, err = jetstream.New(conn)
	} else {
		js, err = jetstream.NewWithDomain(conn, a.domain)
	}
	if err != nil {
		return nil, err
	}
	s, err := New(js, a.bucket, options...)
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
	for {
		err := s.ready(ctx)
		if !starting(err) {
			return err
		}
		select {
		case <-time.After(reconnectWait):
		case <-ctx.Done():
			return err
		}
	}
}

// connect dials until ctx ends or every server has refused once.
func (a *address) connect(ctx context.Context) (*nats.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	type connected struct {
		conn *nats.Conn
		err  error
	}
	result := make(chan connected, 1)
	go func() {
		conn, err := nats.Connect(strings.Join(a.servers, ","), a.dial...)
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

func parse(rawURL string) (*address, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		// err may hold a password.
		return nil, errors.New("the store's address is no URL; want nats://host:4222/bucket, with further servers in " +
			"?servers=host:4222,host:4222 and with what is not plain in a password written %xx")
	}
	a := &address{shown: u.Scheme + "://" + u.Host + u.Path, bucket: strings.TrimPrefix(u.Path, "/")}
	switch {
	case u.Scheme != "nats" && u.Scheme != "tls":
		return nil, fmt.Errorf("%s: the scheme is %q; want nats or tls", a.shown, u.Scheme)
	case u.Hostname() == "":
		return nil, fmt.Errorf("%s: no host is named; want nats://host:4222/bucket", a.shown)
	case a.bucket == "":
		return nil, fmt.Errorf("%s: no bucket is named; want %s://%s/bucket", a.shown, u.Scheme, u.Host)
	case u.Fragment != "":
		return nil, fmt.Errorf("%s: the fragment #%s means nothing; in a password, write %%23", a.shown, "…")
	}
	query, err := storeurl.Parameters(u.RawQuery, parameters...)
	if err == nil {
		err = a.read(u, query)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.shown, err)
	}
	return a, nil
}

func (a *address) read(u *url.URL, query map[string]string) error {
	secure := u.Scheme == "tls" || query["tls_ca"] != "" || query["tls_cert"] != ""
	a.servers = []string{server(u.Host, secure)}
	if more := query["servers"]; more != "" {
		for host := range strings.SplitSeq(more, ",") {
			if host == "" || strings.ContainsAny(host, "/@") {
				return fmt.Errorf("servers: want host:port,host:port, not %q", "…")
			}
			a.servers = append(a.servers, server(host, secure))
		}
	}
	a.domain = query["domain"]
	a.dial = connection(query["name"])
	if err := a.credentials(u, query); err != nil {
		return err
	}
	if err := a.security(secure, query); err != nil {
		return err
	}
	return a.settings(query)
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

// connection is how the client behaves: it never gives up, and keeps nothing to be sent later, when nobody waits for
// it any more.
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
		// The client's own handler prints.
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}),
	}
}

func (a *address) credentials(u *url.URL, query map[string]string) error {
	var ways int
	if u.User != nil {
		ways++
		password, hasPassword := u.User.Password()
		if hasPassword {
			a.dial = append(a.dial, nats.UserInfo(u.User.Username(), password))
		} else {
			a.dial = append(a.dial, nats.Token(u.User.Username()))
		}
	}
	if file := query["creds"]; file != "" {
		ways++
		a.dial = append(a.dial, nats.UserCredentials(file))
	}
	if file := query["nkey"]; file != "" {
		ways++
		option, err := nats.NkeyOptionFromSeed(file)
		if err != nil {
			return fmt.Errorf("nkey: %w", err)
		}
		a.dial = append(a.dial, option)
	}
	if ways > 1 {
		return errors.New("user, creds and nkey are different ways to say who one is: give one of them")
	}
	if prefix := query["inbox_prefix"]; prefix != "" {
		a.dial = append(a.dial, nats.CustomInboxPrefix(prefix))
	}
	return nil
}

func (a *address) security(secure bool, query map[string]string) error {
	cert, key := query["tls_cert"], query["tls_key"]
	if (cert == "") != (key == "") {
		return errors.New("tls_cert and tls_key go together")
	}
	if cert != "" {
		a.dial = append(a.dial, nats.ClientCert(cert, key))
	}
	if ca := query["tls_ca"]; ca != "" {
		a.dial = append(a.dial, nats.RootCAs(ca))
	}
	if secure {
		a.dial = append(a.dial, nats.Secure()) // never without, whatever the server offers
	}
	return nil
}

// settings turns parameters into options.
func (a *address) settings(query map[string]string) error {
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
			a.options = append(a.options, o)
		}
	}
	if query["cluster"] != "" || query["tags"] != "" {
		var tags []string
		if query["tags"] != "" {
			tags = strings.Split(query["tags"], ",")
		}
		a.options = append(a.options, WithPlacement(query["cluster"], tags...))
	}
	if text := query["description"]; text != "" {
		a.options = append(a.options, WithDescription(text))
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
	d, err := time.ParseDuration(value)
	if err != nil {
		return nil, errors.New("want a duration, as 1s")
	}
	return WithHeartbeat(d), nil
}
