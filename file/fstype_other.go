//go:build !linux && !darwin && !freebsd

package file

import "runtime"

// fileSystemOf cannot tell here. The store works, and says that its grade is unknown.
func fileSystemOf(string) (fileSystem, error) {
	return fileSystem{name: runtime.GOOS + " file system"}, nil
}
