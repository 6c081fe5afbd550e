package testserver

import (
	"errors"
	"math/rand/v2"
	"net"
	"sync"
)

// The range lies below the ephemeral ports of Linux (32768 and above), macOS and Windows (49152 and above).
const lowestPort, highestPort = 15000, 32000

// blockSize is how many ports belong together. The first of a block is for nobody's use: the process that listens on it
// may give the others away, so that no two processes that run servers ever draw the same port, however long a server
// takes to bind it or stands still between two starts.
const blockSize = 50

var (
	portsMu sync.Mutex
	blocks  []net.Listener // which say that a block is ours for as long as this process lives
	nextIn  = blockSize    // the place of the next port in the last block
)

// freePort returns a port that this process has not given away before, and on which nobody listens.
func freePort() (int, error) {
	portsMu.Lock()
	defer portsMu.Unlock()
	for range 1000 {
		if nextIn == blockSize {
			if err := takeBlock(); err != nil {
				return 0, err
			}
		}
		port := blocks[len(blocks)-1].Addr().(*net.TCPAddr).Port + nextIn
		nextIn++
		if listener, err := net.Listen("tcp", Addr(port)); err == nil {
			return port, listener.Close()
		}
	}
	return 0, errors.New("1000 ports are taken")
}

// takeBlock takes a block that is nobody's.
func takeBlock() error {
	const all = (highestPort - lowestPort) / blockSize
	for _, block := range rand.Perm(all) {
		if listener, err := net.Listen("tcp", Addr(lowestPort+block*blockSize)); err == nil {
			blocks, nextIn = append(blocks, listener), 1
			return nil
		}
	}
	return errors.New("all blocks of ports are taken")
}
