//go:build darwin || freebsd

package file

import (
	"os"
	"syscall"
)

// mountLocal is MNT_LOCAL of sys/mount.h: the kernel's own word for a file system that is stored on this host.
const mountLocal = 0x1000

func fileSystemOf(path string) (fileSystem, error) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(path, &stat); err != nil {
		return fileSystem{}, &os.PathError{Op: "statfs", Path: path, Err: err}
	}
	var name []byte
	for _, c := range stat.Fstypename {
		if c == 0 {
			break
		}
		name = append(name, byte(c))
	}
	return classify(string(name), uint64(stat.Flags)&mountLocal != 0), nil
}

func classify(name string, local bool) fileSystem {
	switch {
	case !local:
		return fileSystem{name: name, kind: networkKind}
	case name == "tmpfs":
		return fileSystem{name: name, kind: volatileKind}
	}
	return fileSystem{name: name, kind: localKind}
}
