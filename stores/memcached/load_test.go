package memcached

import (
	"context"
	"net"
	"sync/atomic"
	"testing"

	"github.com/bradfitz/gomemcache/memcache"

	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/testserver"
)

// README.md and docs/poll-costs.md state what a candidate sends. A renewal, of two requests, comes after 0.9 thirds of
// the TTL at the earliest, a poll after 0.9 fifths.
func TestRequestsPerCandidateMinute(t *testing.T) {
	server := testserver.StartMemcached(t)
	leads, follows := fleet.Load(t, countingParty(t, server.Addr), countingParty(t, server.Addr))
	t.Logf("requests a minute at the default TTL: leader %.1f, follower %.1f", leads, follows)
	if leads == 0 || leads > 2*22 || follows == 0 || follows > 36 {
		t.Errorf("a leader sends %.1f requests a minute, a follower %.1f", leads, follows)
	}
}

func countingParty(t *testing.T, addr string) fleet.Party {
	t.Helper()
	var sent atomic.Int64
	client := memcache.New(addr)
	client.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		return countingConn{conn, &sent}, err
	}
	s, err := New(client)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return fleet.Party{Store: s, Sent: func() int { return int(sent.Load()) }}
}

// countingConn counts requests: the client writes each of these small ones at once.
type countingConn struct {
	net.Conn
	sent *atomic.Int64
}

func (c countingConn) Write(b []byte) (int, error) {
	c.sent.Add(1)
	return c.Conn.Write(b)
}
