package scenario

import (
	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/tcpproxy"
)

// CutOffs are all the ways in which a client loses its server, and the server does not lose the client.
func CutOffs() map[string]func(*tcpproxy.Proxy) {
	return map[string]func(*tcpproxy.Proxy){
		"connection reset":     func(p *tcpproxy.Proxy) { p.Refuse(true); p.Cut() },
		"connection hangs":     (*tcpproxy.Proxy).Hold,
		"replies are lost":     (*tcpproxy.Proxy).HoldReplies,
		"requests do not pass": (*tcpproxy.Proxy).HoldRequests,
	}
}

// LeaderIsCutOff checks that a leader that cannot reach the server any more ends its term by its own clock, before
// another candidate leads, and that it is back afterwards and leaves the seat alone. The server is at an address, and
// stores are opened by this one or that of a proxy.
func LeaderIsCutOff(t TB, addr string, open func(addr string) tenure.Store, cutOff func(*tcpproxy.Proxy)) {
	t.Helper()
	f := fleet.New(t)
	defer f.Check()
	proxy := tcpproxy.Start(t, addr)
	f.Stand(open(proxy.Addr()), "cut off")
	first := f.Next()
	f.Stand(open(addr), "one", fleet.Patient...)
	f.Stand(open(addr), "two", fleet.Patient...)
	f.Known(first)
	cutOff(proxy)
	last, _ := f.Leader() // the first, unless it was late and led again
	second := f.Next()
	for second.Leader == first.Leader && second.Token <= last.Token {
		second = f.Next()
	}
	if second.Leader == first.Leader {
		t.Fatalf("%s leads again, cut off", first.Leader)
	}
	proxy.Release()
	proxy.Refuse(false)
	f.Known(second) // by the one that was cut off too
	f.Renewed(second, 10)
}
