//go:build unix

package main

import "syscall"

// signals are those that a command may take for a request to stop.
var signals = map[string]syscall.Signal{
	"ABRT": syscall.SIGABRT, "HUP": syscall.SIGHUP, "INT": syscall.SIGINT, "KILL": syscall.SIGKILL,
	"QUIT": syscall.SIGQUIT, "TERM": syscall.SIGTERM, "USR1": syscall.SIGUSR1, "USR2": syscall.SIGUSR2,
	"WINCH": syscall.SIGWINCH,
}
