package main

import "syscall"

// signals are those that exist here by name. The command is always asked to stop by CTRL_BREAK.
var signals = map[string]syscall.Signal{"KILL": syscall.SIGKILL, "TERM": syscall.SIGTERM}
