package leaderhttp

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
)

// proxy passes requests on.
type proxy struct{ reverse *httputil.ReverseProxy }

// idlePerHost is how many idle connections to the leader are kept: all requests of a process go there.
const idlePerHost = 64

func newProxy(transport http.RoundTripper) proxy {
	if transport == nil {
		transport = directTransport()
	}
	return proxy{&httputil.ReverseProxy{Transport: transport, Rewrite: rewrite, ErrorHandler: failed}}
}

// directTransport has no proxy between the processes of one election, and leaves bodies as they are.
func directTransport() *http.Transport {
	t := &http.Transport{ForceAttemptHTTP2: true}
	if standard, ok := http.DefaultTransport.(*http.Transport); ok {
		t = standard.Clone()
	}
	t.Proxy, t.DisableCompression, t.MaxIdleConnsPerHost = nil, true, idlePerHost
	return t
}

func (proxy) check() error { return nil }

// routeKey finds, in a request's context, where the request goes.
type routeKey struct{}

type route struct {
	g    *Gate
	base *url.URL
	to   leader
}

func (a proxy) answer(g *Gate, w http.ResponseWriter, r *http.Request, to leader) {
	base, ok := g.find(w, r, to.record)
	if !ok {
		return
	}
	w.Header().Del("Cache-Control") // that of the leader's answer counts
	a.reverse.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), routeKey{}, route{g, base, to})))
}

// forwarded are the headers that httputil takes away, and that the leader gets as if the client had come to it.
var forwarded = []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"}

func rewrite(pr *httputil.ProxyRequest) {
	way, _ := pr.In.Context().Value(routeKey{}).(route)
	pr.Out.URL.RawQuery = pr.In.URL.RawQuery // also what does not parse: the leader judges it, not we
	pr.SetURL(way.base)
	pr.Out.Host = pr.In.Host
	for _, name := range forwarded {
		if values, sent := pr.In.Header[name]; sent {
			pr.Out.Header[name] = values[:len(values):len(values)]
		}
	}
	setForwarded(pr)
	next := way.to.hop.next(way.to.record.Token)
	next.setHeader(pr.Out.Header, next.String())
}

// setForwarded adds the client to the chain, and says how it came unless somebody before has.
func setForwarded(pr *httputil.ProxyRequest) {
	host, proto := pr.Out.Header.Get("X-Forwarded-Host"), pr.Out.Header.Get("X-Forwarded-Proto")
	pr.SetXForwarded()
	if host != "" {
		pr.Out.Header.Set("X-Forwarded-Host", host)
	}
	if proto != "" {
		pr.Out.Header.Set("X-Forwarded-Proto", proto)
	}
}

// failed answers for a leader that did not. What became of the request is not known.
func failed(w http.ResponseWriter, r *http.Request, err error) {
	way, _ := r.Context().Value(routeKey{}).(route)
	way.g.logger.Warn("a request could not be passed on to the leader", "election", way.g.candidate.Election(),
		"leader", way.to.record.Leader, "token", way.to.record.Token, "error", err)
	status := http.StatusBadGateway
	if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
		status = http.StatusGatewayTimeout
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Error(w, "the leader did not answer", status)
}
