package sqlstore

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// sqlitePragmas are set on every connection. The driver sets the busy timeout first, so that it holds for the switch
// to WAL. It is short: a candidate that is told to try again does so soon, and a call must not outlive its time.
var sqlitePragmas = []string{"busy_timeout(250)", "journal_mode(WAL)", "synchronous(FULL)"}

// sqliteSource writes the data source name as modernc.org/sqlite reads it: a URI of SQLite with pragmas.
func sqliteSource(u *url.URL) (source, error) {
	p, err := parametersOf(u, "table", "create")
	if err != nil {
		return source{}, err
	}
	options, err := p.options()
	if err != nil {
		return source{}, err
	}
	path, err := sqlitePath(u)
	if err != nil {
		return source{}, err
	}
	// The driver's file URI is percent-encoded as ours is; a path that begins with a slash has no host before it.
	dsn := "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + url.Values{"_pragma": sqlitePragmas}.Encode()
	return source{driver: "sqlite", dsn: dsn, dialect: SQLite{}, options: options}, nil
}

func sqlitePath(u *url.URL) (string, error) {
	path := u.Path
	if u.Opaque != "" {
		var err error
		if path, err = url.PathUnescape(u.Opaque); err != nil {
			return "", fmt.Errorf("the path in the URL cannot be read: %w", err)
		}
	}
	switch {
	case u.Host != "" && u.Host != "localhost":
		return "", fmt.Errorf("the URL names a host; a file has three slashes: sqlite:///%s%s", u.Host, u.Path)
	case path == "":
		return "", errors.New("the URL names no file; want sqlite:///path")
	case strings.Contains(path, ":memory:"):
		return "", errors.New("a database in memory is seen by one connection alone; use the store in memory instead")
	}
	return path, nil
}
