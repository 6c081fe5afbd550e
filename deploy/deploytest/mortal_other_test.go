//go:build !linux

package deploytest

import "syscall"

// mortal processes are ended by the test alone.
func mortal() *syscall.SysProcAttr { return nil }
