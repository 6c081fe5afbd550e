// Package dualleader puts libraries of leader election, ours among them, through the same faults in fake time, and
// counts how often two of their processes lead at once. It is never released.
//
// A history is one bubble of fake time: a server, which is a linearizable register with whatever else the library
// asks of its store (keys that expire, leases, rows), three processes that stand for election in it, and one fault from
// [Faults]. The network between a process and the server is a [Link], on which the fault works; neither the library nor
// the server knows of it. Two processes lead at once at an instant if the public interface of both says at that instant
// that they do: that is asked every five hundredth of a lease.
//
// Everything that the harness decides comes from the history's seed. What the libraries draw for themselves, such as
// the jitter of their timers, is not ours to seed, so that their counts move by a few from run to run.
//
// Bubbles exist only in tests, so the tables are written by one:
//
//	make bench-dual
package dualleader
