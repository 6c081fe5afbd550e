//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
)

var errUnsupported = fmt.Errorf("%s has no flock and no atomic rename over a file that is being read, "+
	"on which this store rests: use another store: %w", runtime.GOOS, errors.ErrUnsupported)

func supported() error { return errUnsupported }

const openFlags = 0

func tryLock(*os.File, bool) (bool, error) { return false, errUnsupported }

func unlock(*os.File) {}

func duplicate(*os.File) (*os.File, error) { return nil, errUnsupported }

func inode(fs.FileInfo) string { return "" }

var permissionErrors, unsyncableErrors = []error{fs.ErrPermission}, []error{errors.ErrUnsupported}

func uncertain(error) bool { return true }
