package deploytest

import "syscall"

// mortal processes end with the test, also if that is killed.
func mortal() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// isolated ones have namespaces of their own besides.
func isolated() *syscall.SysProcAttr {
	attributes := mortal()
	attributes.Cloneflags = syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC |
		syscall.CLONE_NEWNET
	return attributes
}
