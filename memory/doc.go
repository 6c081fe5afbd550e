// Package memory keeps elections in the memory of one process: for tests, and for programs whose candidates all live
// in one process.
//
//	store := memory.New()
//	candidate, err := tenure.New(store, "billing")
//
// The store is linearizable: every call takes effect at one instant between its start and its return, and all callers
// see one order of them. It pushes changes, lists and prunes its elections, and grades itself exclusive, because it
// cannot fail without the process and every candidate in it. Nothing survives the process, tokens included: a resource
// outside of it that remembers tokens needs a store that does too.
//
// An election with one watch takes less than half a KiB. The store has at most one goroutine, which exists only while
// changes wait to be delivered, so that a store that is dropped leaves nothing behind, with or without Close.
// It works inside the bubbles of testing/synctest.
package memory
