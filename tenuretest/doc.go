// Package tenuretest checks implementations of [tenure.Store], and makes stores fail on purpose.
//
// # Conformance
//
// [Run] holds a store against every rule of the store contract, each as a subtest named by the rule's ID. This is all
// the wiring that a store needs:
//
//	func TestStore(t *testing.T) {
//		dir := t.TempDir()
//		open := func(t *testing.T) tenure.Store {
//			store, err := mystore.Open(dir)
//			if err != nil {
//				t.Fatal(err)
//			}
//			t.Cleanup(func() { store.Close() })
//			return store
//		}
//		tenuretest.Run(t, open, tenuretest.WithSecond(open))
//	}
//
// A failure names the rule and says what it asks for. The IDs are stable, so that a known gap can be skipped by name
// (-skip TestStore/LIST-SORTED) and spoken of. The README lists all rules. A rule that concerns an optional interface
// is skipped if the store does not implement it.
//
// The rules use records of living, vacant, paused and forgotten elections under names of all kinds; they raise
// tokens, and prune where the store can. They clean nothing up. Give them data of their own, used by nothing else at
// the time: a directory, a schema, a bucket. It may be kept for the next run.
//
// What a test from outside cannot see is left to the store's own tests: a reply or a connection that is lost, the
// restoring of an interrupted watch, what survives a crash.
//
// # Faults
//
// [NewFaulty] puts faults around any store: lost and late requests and replies, repeated writes, freezes, errors,
// stale reads, silent and interrupted watches. It is meant for tests of programs that use an election:
//
//	faulty := tenuretest.NewFaulty(memory.New())
//	candidate, err := tenure.New(faulty, "billing")
//	...
//	faulty.Inject(tenuretest.LoseReply().On(tenuretest.OpSwap).Times(2))
//
// Its waits end with contexts, with [Faulty.Heal] or by a timer; it works inside the bubbles of testing/synctest.
package tenuretest
