//go:build linux

package network

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// onThread calls do on a thread that nothing else has run on in between, and that ends when do returns: whatever do has
// changed of the thread is gone with it. The main thread never ends, and is passed over.
func onThread(do func()) {
	go func() {
		runtime.LockOSThread() // and never unlock, which ends the thread
		if unix.Gettid() != unix.Getpid() {
			do()
			return
		}
		got := make(chan struct{})
		go func() {
			runtime.LockOSThread() // this one is another, since the main thread is taken
			close(got)
			do()
		}()
		<-got
		runtime.UnlockOSThread()
	}()
}
