package main

import (
	"context"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/file"
)

// fileScheme is a directory: file:///absolute/path or file:relative/path, with ?mode=0660 for the members of a group.
var fileScheme = scheme{names: []string{"file"}, form: "file:///path", open: openFile}

func openFile(_ context.Context, address string, how opening) (tenure.Store, func() error, error) {
	u, err := parse(address)
	if err != nil {
		return nil, nil, err
	}
	if err := onlyParameters(u, "mode"); err != nil {
		return nil, nil, err
	}
	dir, err := directory(u)
	if err != nil {
		return nil, nil, err
	}
	var options []file.Option
	if how == existing {
		options = append(options, file.WithExistingDirectory())
	}
	if text := u.Query().Get("mode"); text != "" {
		mode, err := strconv.ParseUint(text, 8, 9)
		if err != nil {
			return nil, nil, usagef("the store's mode %q is no octal number such as 0660", text)
		}
		options = append(options, file.WithMode(fs.FileMode(mode)))
	}
	return opened(file.Open(dir, options...))
}

// directory returns the path in a URL.
func directory(u *url.URL) (string, error) {
	switch {
	case u.Host != "" && u.Host != "localhost":
		return "", usagef("the store %q names a host; a directory has three slashes: file:///%s%s", u, u.Host, u.Path)
	case u.Opaque != "":
		relative, err := url.PathUnescape(u.Opaque)
		if err != nil {
			return "", usagef("the store %q is no URL: %w", u, err)
		}
		return relative, nil
	case u.Path == "":
		return "", usagef("the store %q names no directory; want file:///path", u)
	}
	if path := u.Path; runtime.GOOS == "windows" && len(path) > 2 && path[2] == ':' {
		return path[1:], nil // of file:///C:/path, as Windows writes it
	}
	return u.Path, nil
}

// defaultStore returns the URL of a file store in the user's state directory.
func defaultStore() (string, error) {
	dir, err := stateDirectory()
	if err != nil {
		return "", usagef("there is no state directory for the default store (%w): give --store", err)
	}
	return directoryURL(filepath.Join(dir, "tenure")), nil
}

// directoryURL returns the URL of the file store in an absolute directory.
func directoryURL(dir string) string {
	path := filepath.ToSlash(dir)
	if path[0] != '/' {
		path = "/" + path // of a drive of Windows
	}
	return (&url.URL{Scheme: fileScheme.names[0], Path: path}).String()
}

// stateDirectory is where programs keep what should outlive a restart and is no document: as the XDG Base Directory
// Specification says, or as the system has it.
func stateDirectory() (string, error) {
	switch runtime.GOOS {
	case "windows":
		return os.UserCacheDir() // %LocalAppData%
	case "darwin", "ios":
		return os.UserConfigDir() // ~/Library/Application Support
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "state"), err
}
