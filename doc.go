// Package tenure elects one leader among any number of processes, over a store that they already run.
//
//	c, err := tenure.New(store, "billing")
//	…
//	err = c.Run(ctx, func(ctx context.Context, term tenure.Term) error {
//		return sendInvoices(ctx, term.Token) // until ctx ends
//	})
//
// A [Candidate] stands for one election. [Candidate.Run] calls a function for every term that it leads, and the
// function's context ends with the term. Other shapes of the same thing: [Candidate.Start] in the background, with
// [Candidate.IsLeader] to ask before acting and [Candidate.RunIfLeader] to act; [Candidate.Campaign] to wait for a term
// and hold it; [Candidate.TryAcquire] for one attempt. [Candidate.State] is for those who only look. [Observe] tells
// who leads without taking part, and [Ask], [SetPause] and [Forget] operate an election through its store alone.
//
// # Guarantees
//
// On a store that keeps what it acknowledged:
//
//   - No two candidates of an election are trusted to lead at the same instant, whatever messages are lost, late or
//     repeated, however long processes are paused, and whatever the clocks show, as long as their rates are right
//     within [WithClockError] and some clock that the process can read ran through the pause.
//   - The fencing token, [Term.Token], grows with every term and never falls.
//   - IsLeader and [Term.Valid] compare with the clocks at every call; once they have said no, they never again say
//     yes of the same term.
//   - The seat is given up only after leader work has returned and observers have heard of the end, or the drain has
//     passed.
//   - A store that is away for less than a lease changes nothing; after a longer outage every candidate stands again.
//
// # What it does not guarantee
//
//   - Code that ignores its context can outlive its term. Pass the token on to what it changes, and refuse lower ones
//     there.
//   - A store that loses acknowledged writes can let a newcomer lead beside a leader that it cannot know of, or hand
//     out a token again. [Guarantee] tells which stores can.
//   - A machine that is suspended while its wall clock is set back: the clock that counts suspension is read at every
//     step of a candidate, a twentieth of the TTL apart, but not at every question, which it would make dear.
//   - Clocks whose rates are wrong by more than [WithClockError], and virtual machines restored from a snapshot, which
//     stop every clock there is.
//   - A process that was copied while it ran, as by a snapshot that is restored twice, or beside its original: copies
//     may lead together, with one token, until one lease after the copy was made. Fencing does not help meanwhile. By
//     then one of them finds out, tells so by [EventCopied], and is another candidate from there on.
//
// # Timing
//
// With D the TTL, e the clock error and sent the moment before the last renewal that landed was sent:
//
//	trusted until                  sent + D·(1-e) - g - drain
//	leader work has returned by    sent + D·(1-e) - g
//	others may lead from           first sight of that renewal + D·(1+e) + g
//
// g is the grain of the system's clocks: 1 µs, or 16 ms on Windows. Each process keeps the margin for its own clocks,
// so that candidates need not agree on e.
//
// A renewal is due every D/3, so with the defaults (D 10 s, e 1 %, drain 2 s) a leader that loses its store leads on
// for 4.5 to 7.9 s, and a follower waits for 10.1 s. A clean hand-over takes two round trips where the store pushes,
// and up to one poll interval (D/5) more where it does not; after a crash D and the follower's margin have to pass
// first, unless the store can vouch for the death as a file store does.
//
// # Stores
//
// A [Store] is an atomic register with a version for each election: two methods. Packages memory and file hold two
// that need nothing; package tenuretest checks a third.
package tenure
