package sidecar

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Address is where a sidecar listens. It is made by [ParseAddress].
type Address struct {
	network, address string
	local            bool // only this host can reach it
}

// ParseAddress reads HOST:PORT, where HOST is an IP address, "localhost" or nothing for every address of this host;
// or unix:/path for a Unix socket.
func ParseAddress(text string) (Address, error) {
	if path, ok := strings.CutPrefix(text, "unix:"); ok {
		if !filepath.IsAbs(path) {
			return Address{}, fmt.Errorf("the socket %q needs an absolute path: unix:/path", text)
		}
		return Address{"unix", path, true}, nil
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return Address{}, fmt.Errorf("%q is no address to listen on: want HOST:PORT or unix:/path", text)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil {
		return Address{}, fmt.Errorf("the port of %q must be a number from 0 to 65535", text)
	} else if host == "localhost" {
		return Address{"tcp", net.JoinHostPort("127.0.0.1", strconv.FormatUint(n, 10)), true}, nil
	}
	if host == "" {
		return Address{"tcp", text, false}, nil
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return Address{}, fmt.Errorf("the host of %q must be an IP address, localhost or nothing", text)
	}
	return Address{"tcp", text, ip.Unmap().IsLoopback()}, nil
}

// String returns the address as it was given.
func (a Address) String() string {
	if a.network == "unix" {
		return "unix:" + a.address
	}
	return a.address
}

// Local reports whether only processes of this host can reach the address.
func (a Address) Local() bool { return a.local }

func (a Address) host() string { return hostname(a.address) }

// Listen opens the address. A Unix socket has mode 0600 from the first moment on, and replaces one that a process left
// when it was killed.
func (a Address) Listen(ctx context.Context) (net.Listener, error) {
	if a.network == "unix" {
		return a.listenUnix(ctx)
	}
	var config net.ListenConfig
	return config.Listen(ctx, a.network, a.address)
}

func (a Address) listenUnix(ctx context.Context) (net.Listener, error) {
	if err := a.checkFree(ctx); err != nil {
		return nil, err
	}
	// In a directory that nobody else can enter, so that nobody connects before the mode is right.
	dir, err := os.MkdirTemp(filepath.Dir(a.address), ".t")
	if err != nil {
		return nil, fmt.Errorf("making a Unix socket: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // nothing is in it any more
	born := filepath.Join(dir, "s")
	listener, err := new(net.ListenConfig).Listen(ctx, "unix", born)
	if err != nil {
		return nil, fmt.Errorf("making a Unix socket, whose path may have about 100 bytes: %w", err)
	}
	listener.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := errors.Join(os.Chmod(born, 0o600), os.Rename(born, a.address)); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return &socket{listener, a.address}, nil
}

// checkFree refuses to replace what is no socket, or is in use.
func (a Address) checkFree(ctx context.Context) error {
	switch info, err := os.Lstat(a.address); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s is there already, and is no socket", a.address)
	}
	dialer := net.Dialer{Timeout: time.Second}
	if conn, err := dialer.DialContext(ctx, "unix", a.address); err == nil {
		return errors.Join(fmt.Errorf("another process listens on %v", a), conn.Close())
	}
	return nil
}

// socket removes its file when it is closed.
type socket struct {
	net.Listener
	path string
}

// Addr returns the address that clients use, and not that in which the socket was made.
func (s *socket) Addr() net.Addr { return &net.UnixAddr{Name: s.path, Net: "unix"} }

func (s *socket) Close() error {
	err := s.Listener.Close()
	if err == nil {
		err = os.Remove(s.path)
	}
	return err
}
