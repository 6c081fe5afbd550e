package sidecar

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
)

// Probe asks a sidecar at the address whether it serves. It shows no token and does not speak TLS, and asks for nothing
// by which the sidecar would tell somebody that it leads.
func (a Address) Probe(ctx context.Context) error {
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, a.network, a.address)
		},
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/healthz", nil)
	if err != nil {
		return err
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		err = fmt.Errorf("it answers %s", response.Status)
	}
	return errors.Join(err, response.Body.Close())
}
