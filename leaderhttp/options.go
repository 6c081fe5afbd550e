package leaderhttp

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/tenure-go/tenure"
)

// GateOption configures a [Gate]. [NewGate] checks all of them together.
type GateOption interface{ apply(*gateConfig) }

type gateOption func(*gateConfig)

func (o gateOption) apply(c *gateConfig) { o(c) }

type gateConfig struct {
	answers    []answer // at most one
	retryAfter time.Duration
	grace      time.Duration
	graced     bool // grace was set
	scheme     string
	leaderURL  func(tenure.Record) (*url.URL, error)
	logger     *slog.Logger
}

// maxRetryAfter bounds what a client is asked to wait.
const maxRetryAfter = time.Hour

// WithMisdirected answers 421 (Misdirected Request) while another process leads: a load balancer or client may then
// try another connection. Without a leader the answer is 503 all the same.
func WithMisdirected() GateOption {
	return gateOption(func(c *gateConfig) { c.answers = append(c.answers, misdirect{}) })
}

// WithRedirect redirects to the leader, with code 307 (Temporary Redirect) or 308 (Permanent Redirect), both of which
// keep method and body; neither may be cached, since leaders change. Clients drop their credentials on the way to
// another host, and need to reach the leader's address. Without a leader that advertises one the answer is 503.
func WithRedirect(code int) GateOption {
	return gateOption(func(c *gateConfig) { c.answers = append(c.answers, redirect{code}) })
}

// WithProxy passes the request on to the leader, and its answer back. The Host header stays as it came, and
// X-Forwarded-For grows by one. A nil transport is one like [http.DefaultTransport] that heeds no proxy of the
// environment. Without a leader that advertises an address the answer is 503. The answer is waited for as long as the
// request's context lasts, also that of a leader that is frozen: a transport with a ResponseHeaderTimeout, longer than
// handlers take, bounds that.
func WithProxy(transport http.RoundTripper) GateOption {
	return gateOption(func(c *gateConfig) { c.answers = append(c.answers, newProxy(transport)) })
}

// WithRetryAfter sets what a 503 asks the client to wait. Default 1 s, at least that, at most an hour, whole seconds.
func WithRetryAfter(d time.Duration) GateOption {
	return gateOption(func(c *gateConfig) { c.retryAfter = d })
}

// WithGrace sets for how long after the end of the term a handler may go on reading the request and writing the
// answer. Then the connection is cut, so that nobody outside can keep the handler from returning. Default a tenth of
// the lease's TTL, which is half of the default drain; at least 0; it should be below the drain ([tenure.WithDrain]).
func WithGrace(d time.Duration) GateOption {
	return gateOption(func(c *gateConfig) { c.grace, c.graced = d, true })
}

// WithScheme sets the scheme of a leader's address that has none, as "10.0.0.7:8080": http (default) or https.
func WithScheme(scheme string) GateOption {
	return gateOption(func(c *gateConfig) { c.scheme = scheme })
}

// WithLeaderURL replaces the way in which the leader's URL is found: by default the advertised address is either
// host:port or an http or https URL, whose path, if any, is put before that of the request. It is called concurrently.
func WithLeaderURL(find func(tenure.Record) (*url.URL, error)) GateOption {
	return gateOption(func(c *gateConfig) { c.leaderURL = find })
}

// WithLogger logs to l what clients are not told: why a request could not be passed on. Default: silent.
func WithLogger(l *slog.Logger) GateOption {
	return gateOption(func(c *gateConfig) { c.logger = l })
}

func newGateConfig(options []GateOption) (*gateConfig, error) {
	c := &gateConfig{retryAfter: time.Second, scheme: "http"}
	for _, o := range options {
		if o != nil {
			o.apply(c)
		}
	}
	if c.logger == nil {
		c.logger = slog.New(slog.DiscardHandler)
	}
	return c, c.check()
}

func (c *gateConfig) check() error {
	switch {
	case len(c.answers) > 1:
		return fmt.Errorf("%w: WithMisdirected, WithRedirect and WithProxy exclude each other; give one of them once",
			tenure.ErrConfig)
	case c.grace < 0:
		return fmt.Errorf("%w: the grace must not be negative", tenure.ErrConfig)
	case c.scheme != "http" && c.scheme != "https":
		return fmt.Errorf("%w: the scheme %q must be http or https", tenure.ErrConfig, c.scheme)
	}
	if err := checkRetryAfter(c.retryAfter); err != nil {
		return err
	}
	if len(c.answers) == 1 {
		return c.answers[0].check()
	}
	return nil
}

func checkRetryAfter(d time.Duration) error {
	if d < time.Second || d > maxRetryAfter || d%time.Second != 0 {
		return fmt.Errorf("%w: Retry-After %v must be whole seconds between 1 s and %v", tenure.ErrConfig, d, maxRetryAfter)
	}
	return nil
}
