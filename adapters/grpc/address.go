package tenuregrpc

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/tenure-go/tenure"
)

// findAddress finds where a leader serves gRPC.
type findAddress func(tenure.Record) (string, error)

func advertised(record tenure.Record) (string, error) { return record.Address, nil }

// of returns the address of the record's leader if a client can connect to it.
func (find findAddress) of(record tenure.Record) (string, error) {
	address, err := find(record)
	if err == nil {
		err = checkAddress(address)
	}
	if err != nil {
		return "", fmt.Errorf("the address of leader %q is of no use: %w", record.Leader, err)
	}
	return address, nil
}

// checkAddress accepts host:port and the absolute path of a socket, which are all that gRPC can connect to without
// another resolver.
func checkAddress(address string) error {
	if path, found := strings.CutPrefix(address, "unix:"); found {
		return checkPath(path)
	}
	switch {
	case address == "":
		return errors.New("it advertises none; see tenure.WithAddress")
	case strings.Contains(address, "://"):
		return fmt.Errorf("%.80q is a URL, not host:port; see WithLeaderAddress", address)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%.80q is neither host:port nor unix:///path", address)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return fmt.Errorf("the port of %.80q is no number from 1 to 65535", address)
	}
	return checkHost(host)
}

func checkPath(path string) error {
	if !strings.HasPrefix(path, "/") || strings.Trim(path, "/") == "" || strings.ContainsFunc(path, notOfPath) {
		return fmt.Errorf("%.80q is no absolute path of printable ASCII characters without %%, ? and #", path)
	}
	return nil
}

// notOfPath refuses what a trailer cannot carry, and what has a meaning in the URL that gRPC takes the path for.
func notOfPath(char rune) bool {
	return char <= ' ' || char > '~' || strings.ContainsRune("%?#", char)
}

func checkHost(host string) error {
	if ip, err := netip.ParseAddr(host); err == nil {
		if ip.IsUnspecified() {
			return fmt.Errorf("%s is where a server listens, not where clients find it", host)
		}
		host = ip.Zone()
	} else if host == "" {
		return errors.New("it names no host: what a server listens on is not where clients find it")
	}
	if len(host) > 253 || strings.ContainsFunc(host, notOfHost) {
		return fmt.Errorf("%.80q is no name of a host", host)
	}
	return nil
}

func notOfHost(char rune) bool {
	return !strings.ContainsRune("-._", char) &&
		(char < '0' || char > '9') && (char < 'a' || char > 'z') && (char < 'A' || char > 'Z')
}

// serverName is what the server is called in the call's authority and, without the port, in its certificate.
func serverName(address string) string {
	if strings.HasPrefix(address, "unix:") {
		return "localhost"
	}
	return address
}
