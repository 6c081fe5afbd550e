//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package leaderhttp

import "os"

// lockBeside makes the file that would be locked where there is flock.
func lockBeside(path string) (*os.File, error) {
	return os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
}

// syncDir does nothing: directories cannot be synced here.
func syncDir(string) error { return nil }
