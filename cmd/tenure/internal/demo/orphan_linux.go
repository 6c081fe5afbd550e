package demo

import "syscall"

// wakeOnDeath thaws a node when the demo dies, so that it finds its standard input at its end. The kernel does so by
// itself only if the process that inherits the node is of another session.
func wakeOnDeath(attributes *syscall.SysProcAttr) { attributes.Pdeathsig = syscall.SIGCONT }
