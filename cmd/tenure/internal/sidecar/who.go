package sidecar

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
)

// peerKey finds, in the context of a connection, what the system says about a client on a Unix socket.
type peerKey struct{}

func withPeer(ctx context.Context, conn net.Conn) context.Context {
	if secured, ok := conn.(*tls.Conn); ok {
		conn = secured.NetConn()
	}
	if b, ok := conn.(*boundedConn); ok {
		conn = b.Conn
	}
	if unix, ok := conn.(*net.UnixConn); ok {
		if peer := peerOf(unix); peer != "" {
			return context.WithValue(ctx, peerKey{}, peer)
		}
	}
	return ctx
}

// who names the client for people: who it says it is, and how far that is known.
func (s *Sidecar) who(r *http.Request, claimed string) string {
	known := r.RemoteAddr
	if peer, ok := r.Context().Value(peerKey{}).(string); ok {
		known = peer
	}
	if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
		known = "certificate of " + r.TLS.PeerCertificates[0].Subject.String() + " from " + known
	}
	if claimed == "" {
		return known
	}
	return claimed + " (" + known + ")"
}

// isLocal reports whether the client runs on this host, where a stream that ends proves that the client let it go.
func isLocal(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	if tcp, ok := local.(*net.TCPAddr); ok {
		return tcp.IP.IsLoopback()
	}
	return local.Network() == "unix"
}

// audit leaves a line about a change of state.
func (s *Sidecar) audit(what, election, who string, args ...any) {
	s.log.Info("audit", append([]any{"action", what, "election", election, "by", who}, args...)...)
}
