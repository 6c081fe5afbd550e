package sqlstore

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/tenure-go/tenure"
)

// sqlitePragmas are set on every connection. The driver sets the busy timeout first, so that it holds for the switch
// to WAL. It is short: a candidate that is told to try again does so soon, and a call must not outlive its time.
var sqlitePragmas = []string{"busy_timeout(250)", "journal_mode(WAL)", "synchronous(FULL)"}

// sqliteSource writes the data source name as modernc.org/sqlite reads it: a URI of SQLite with pragmas.
func sqliteSource(u *url.URL) (source, error) {
	p, err := parametersOf(u, "table", "create", "migrate")
	if err != nil {
		return source{}, err
	}
	options, migrate, err := p.options()
	if err != nil {
		return source{}, err
	}
	path, err := sqlitePath(u)
	if err != nil {
		return source{}, err
	}
	// The driver's file URI is percent-encoded as ours is; a path that begins with a slash has no host before it.
	dsn := "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + url.Values{"_pragma": sqlitePragmas}.Encode()
	return source{
		driver: "sqlite", dsn: dsn, dialect: SQLite{}, options: options, migrate: migrate,
		check: func(existing bool) error { return checkFile(path, existing) },
	}, nil
}

// checkFile returns an error if there is no directory for the file, of which SQLite would say less, or if existing no
// file, which SQLite would make. What else is wrong SQLite says.
func checkFile(path string, existing bool) error {
	if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
		return tenure.Permanent(fmt.Errorf("%w: its directory is missing: make it first (%w)", tenure.ErrNoStore, err))
	}
	if _, err := os.Stat(path); existing && errors.Is(err, fs.ErrNotExist) {
		return tenure.Permanent(fmt.Errorf("%w: %w", tenure.ErrNoStore, err))
	}
	return nil
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
