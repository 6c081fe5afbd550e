package testserver

import "strconv"

// Memcached is a running memcached, which forgets everything when it restarts.
type Memcached struct {
	*Process
	// Addr is its host and port.
	Addr string
}

// StartMemcached starts a memcached with further arguments, such as -m for its memory.
func StartMemcached(tb TB, args ...string) *Memcached {
	tb.Helper()
	port := Port(tb)
	args = append([]string{"-l", "127.0.0.1", "-p", strconv.Itoa(port), "-U", "0", "-t", "2"}, args...)
	process := Start(tb, Command{
		Program: Find(tb, "memcached"), Args: args, Unprivileged: true, Ready: Dial(Addr(port)),
	})
	return &Memcached{Process: process, Addr: Addr(port)}
}
