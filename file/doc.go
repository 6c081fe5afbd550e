// Package file keeps elections in a directory, for any number of processes on one host. It needs no server.
//
//	store, err := file.Open("/var/lib/billing/elections")
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//	candidate, err := tenure.New(store, "billing")
//
// # Guarantees
//
// A record is replaced under a lock (flock) by a file that was written and synced before, and the directory is synced
// before the write is acknowledged. So kill -9 and a power cut, at any moment, leave the old record or the new one, and
// never take back an acknowledged one.
//
// The death of a leader is known at once, not when its lease has run out: a leader holds a lock of the kernel for its
// term, in a file of its own that the record names, and the kernel lets go of it when the last process that has it is
// gone, whatever ended it. Every other process on the host then finds the snapshot abandoned, and on Linux its watch is
// told within a millisecond or so. A frozen process (SIGSTOP) keeps the lock, and with it its lease, but no longer:
// after the lease has run out nobody asks for the lock.
//
// [Store.TermLock] gives the lock to child processes, so that a term is abandoned only when they are gone too. No
// process inherits it otherwise: what a leader's other children do outlives the leader, unless its death ends them.
//
// # Non-guarantees
//
// The store is for one host. Network file systems are refused by [Open], with no way around it: on many of them locks
// end at the host or with the connection, renames are repeated, and nobody is told of a change. Other directories than
// local ones are named in the README.
//
// A disk that acknowledges what it has not kept can lose the last writes in a power cut. tmpfs forgets everything with
// a reboot, tokens included. A machine that is restored from a snapshot, or processes restored from a checkpoint, have
// clocks and locks that stood still; only the token helps there. Who may write to the directory can do anything: files
// of the store must not be removed, edited or restored by hand while it is in use. A damaged file is an error that
// names it, and is never overwritten.
//
// # Other systems
//
// On macOS and the BSDs the store has no watch, so candidates poll; on the BSDs it does not vouch for the death of a
// leader either, for want of a name for the present boot, and followers wait for the lease. On Windows, and wherever
// there is no flock, Open fails with an error that wraps [errors.ErrUnsupported].
package file
