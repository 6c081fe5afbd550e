package testserver

import (
	"errors"
	"math/rand/v2"
	"net"
	"sync"
)

// The range lies below the ephemeral ports of Linux (32768 and above), macOS and Windows (49152 and above).
const lowestPort, highestPort = 15000, 32000

var (
	portsMu    sync.Mutex
	portsGiven = map[int]bool{}
)

// freePort draws ports until nobody listens on one and this process has not given it away before.
func freePort() (int, error) {
	portsMu.Lock()
	defer portsMu.Unlock()
	for range 1000 {
		port := lowestPort + rand.IntN(highestPort-lowestPort)
		if portsGiven[port] {
			continue
		}
		listener, err := net.Listen("tcp", Addr(port))
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			return 0, err
		}
		portsGiven[port] = true
		return port, nil
	}
	return 0, errors.New("1000 ports are taken")
}
