//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// supported says why the store cannot work on this system, nil where it can.
func supported() error { return nil }

// openFlags keep a foreign named pipe from blocking the reader, and a foreign link from leading out of the store.
const openFlags = syscall.O_NONBLOCK | syscall.O_NOFOLLOW

// tryLock takes the kernel's lock on f's open file description, alone or shared, and reports whether it got it. The
// lock goes with the last descriptor of that description, also when its process is killed.
func tryLock(f *os.File, alone bool) (bool, error) {
	how := syscall.LOCK_SH
	if alone {
		how = syscall.LOCK_EX
	}
	err := flock(f, how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// unlock lets go of the lock although descriptors of the open file description may survive: a process that is just
// being forked holds copies of all of them for a moment.
func unlock(f *os.File) { _ = flock(f, syscall.LOCK_UN) }

func flock(f *os.File, how int) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	controlErr := raw.Control(func(fd uintptr) {
		for err = syscall.Flock(int(fd), how); errors.Is(err, syscall.EINTR); {
			err = syscall.Flock(int(fd), how)
		}
	})
	if controlErr != nil {
		return controlErr
	}
	if err != nil {
		return &fs.PathError{Op: "flock", Path: f.Name(), Err: err}
	}
	return nil
}

// duplicate returns another descriptor of f's open file description. No process inherits it unasked.
func duplicate(f *os.File) (*os.File, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	copied := -1
	controlErr := raw.Control(func(fd uintptr) {
		syscall.ForkLock.RLock()
		defer syscall.ForkLock.RUnlock()
		if copied, err = syscall.Dup(int(fd)); err == nil {
			syscall.CloseOnExec(copied)
		}
	})
	if err = errors.Join(controlErr, err); err != nil {
		return nil, &fs.PathError{Op: "dup", Path: f.Name(), Err: err}
	}
	return os.NewFile(uintptr(copied), f.Name()), nil
}

// inode identifies a file among all those that exist at one time in one boot.
func inode(info fs.FileInfo) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d:%d", stat.Dev, stat.Ino)
}

// The errors by which a system says that nothing was changed, and that trying again is useless until somebody gives
// the permission; and those by which it says that a directory cannot be synced at all.
var (
	permissionErrors = []error{fs.ErrPermission, syscall.EROFS}
	unsyncableErrors = []error{syscall.EINVAL, syscall.ENOTSUP}
)

// uncertain reports whether a rename that failed with err may have happened all the same.
func uncertain(err error) bool { return errors.Is(err, syscall.EIO) }
