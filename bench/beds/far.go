package beds

import (
	"time"

	"github.com/tenure-go/tenure/bench"
	"github.com/tenure-go/tenure/internal/tcpproxy"
	"github.com/tenure-go/tenure/internal/testserver"
)

// distance is how long each direction of the way to a far server takes, as between zones of a cloud's region. Over
// loopback a round trip is so short that what processors do counts more, with 50 candidates above all; here the
// numbers say how many round trips there are.
const distance = 500 * time.Microsecond

// RedisFar is Redis at a distance.
func RedisFar() bench.Bed {
	bed := Redis()
	bed.Name, bed.About = "redis-far", bed.About+", half a millisecond away"
	bed.Start = func(tb testserver.TB) (bench.Server, error) {
		server := testserver.StartRedis(tb)
		var err error
		if server.Addr, err = far(tb, server.Addr); err != nil {
			return nil, err
		}
		return useRedis(tb, server)
	}
	return bed
}

// NATSFar is NATS at a distance.
func NATSFar() bench.Bed {
	bed := NATS()
	bed.Name, bed.About = "natskv-far", bed.About+", half a millisecond away"
	bed.Start = func(tb testserver.TB) (bench.Server, error) {
		server := testserver.StartNATS(tb)
		var err error
		if server.Addr, err = far(tb, server.Addr); err != nil {
			return nil, err
		}
		return useNATS(tb, server, 1)
	}
	return bed
}

// far returns the address of a way to a server that takes its time.
func far(tb testserver.TB, addr string) (string, error) {
	proxy, err := tcpproxy.Listen(addr)
	if err != nil {
		return "", err
	}
	tb.Cleanup(proxy.Close)
	proxy.Delay(distance)
	return proxy.Addr(), nil
}
