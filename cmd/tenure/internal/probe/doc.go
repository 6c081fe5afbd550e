// Package probe examines a live store: whether its compare-and-swap is what an election rests on, how fast it is, and
// what it guarantees. It writes to an election of its own, which nobody can win.
package probe
