//go:build linux

package beds

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/tenure-go/tenure/internal/testserver"
)

// File is the store in a directory.
func File() Bed {
	return Bed{Name: "file", About: "a directory on a local disk", Start: local("file", "elections", false)}
}

// SQLite is a file of SQLite.
func SQLite() Bed {
	return Bed{Name: "sqlite", About: "a file with a write-ahead log", Start: local("sqlite", "elections.db", true)}
}

// local is a store without a server; a database has a pool of connections.
func local(scheme, name string, pool bool) func(testserver.TB) (*Server, error) {
	return func(tb testserver.TB) (*Server, error) {
		address := url.URL{Scheme: scheme, Path: filepath.Join(testserver.Dir(tb), name)}
		wipe := func() error { return os.RemoveAll(address.Path) }
		at := func([]string) string { return address.String() }
		return &Server{Version: "none", URL: at, Wipe: wipe, Pool: pool}, nil
	}
}

// one returns the URL of a server with one address.
func one(format string) func([]string) string {
	return func(addrs []string) string { return strings.ReplaceAll(format, "{}", addrs[0]) }
}
