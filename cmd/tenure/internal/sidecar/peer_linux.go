package sidecar

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// peerOf names the process at the other end of a Unix socket.
func peerOf(conn *net.UnixConn) string {
	raw, err := conn.SyscallConn()
	if err != nil {
		return ""
	}
	var name string
	err = raw.Control(func(fd uintptr) {
		if peer, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			name = fmt.Sprintf("uid %d, pid %d", peer.Uid, peer.Pid)
		}
	})
	if err != nil {
		return ""
	}
	return name
}
