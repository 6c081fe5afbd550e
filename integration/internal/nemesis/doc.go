// Package nemesis brings faults about: it draws them from a seed, one at a time or two together, makes sure that each
// is real, undoes it, and waits for a leader before it goes on. Each kind of fault is a small type.
package nemesis
