package kubernetes

import (
	"net"
	"net/http"
	"strconv"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
)

// How the client that Open makes finds out that a connection hangs.
const (
	dialTimeout = 2 * time.Second
	pingAfter   = 2 * time.Second // of silence
	pingTimeout = 2 * time.Second
)

// newClient returns an HTTP client for an API server, and what closes its connections. It differs from client-go's own
// in noticing a dead connection within seconds instead of 45, and in leaving every repetition to the candidate.
func newClient(config *rest.Config) (client *http.Client, release func(), err error) {
	c, err := config.TransportConfig()
	if err != nil {
		return nil, nil, err
	}
	tls, err := transport.TLSConfigFor(c)
	if err != nil {
		return nil, nil, err
	}
	base := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: tls, TLSHandshakeTimeout: dialTimeout, ForceAttemptHTTP2: true,
		DialContext: (&net.Dialer{Timeout: dialTimeout}).DialContext,
		HTTP2:       &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
	}
	if c.Proxy != nil {
		base.Proxy = c.Proxy
	}
	if c.DialHolder != nil {
		base.DialContext = c.DialHolder.Dial
	}
	wrapped, err := transport.HTTPWrappersForConfig(c, base)
	if err != nil {
		return nil, nil, err
	}
	return &http.Client{Transport: retryAfter{wrapped}}, base.CloseIdleConnections, nil
}

// retryAfter keeps client-go from sleeping and repeating a request when the server asks for a pause: the candidate,
// which knows how long its lease still is, is told instead.
type retryAfter struct{ next http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (t retryAfter) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	text := response.Header.Get("Retry-After")
	response.Header.Del("Retry-After")
	asked, ok := request.Context().Value(askedKey{}).(*time.Duration)
	if seconds, err := strconv.Atoi(text); err == nil && ok && seconds > 0 {
		*asked = time.Duration(seconds) * time.Second
	}
	return response, nil
}
