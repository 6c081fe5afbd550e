//go:build !linux

package file

// watches are none: without inotify the store is no tenure.Watcher, and candidates poll.
type watches struct{}

func (*watches) close() {}
