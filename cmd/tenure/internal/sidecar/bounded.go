package sidecar

import (
	"net"
	"sync"
)

// sendBuffer is how much the kernel keeps of what a client has not read. What fits is how late it is noticed that the
// client does not read at all.
const sendBuffer = 4 << 10

// bounded is a listener that closes connections beyond a number of them at once.
type bounded struct {
	net.Listener
	slots chan struct{}
}

// Accept implements [net.Listener].
func (b *bounded) Accept() (net.Conn, error) {
	for {
		conn, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case b.slots <- struct{}{}:
		default:
			_ = conn.Close()
			continue
		}
		if buffered, ok := conn.(interface{ SetWriteBuffer(bytes int) error }); ok {
			_ = buffered.SetWriteBuffer(sendBuffer) // a larger one only takes longer to fill
		}
		return &boundedConn{Conn: conn, free: func() { <-b.slots }}, nil
	}
}

// boundedConn frees its slot when it is closed.
type boundedConn struct {
	net.Conn
	once sync.Once
	free func()
}

// Close implements [net.Conn].
func (c *boundedConn) Close() error {
	c.once.Do(c.free)
	return c.Conn.Close()
}
