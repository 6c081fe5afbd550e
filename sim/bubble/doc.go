// Package bubble is the second mode of the simulator: the real candidate, its goroutine, its timers and its calls, in
// bubbles of fake time. It is slower by far than the first mode, which drives the pure machine; but what it checks is
// what users run: Run, Start with IsLeader or with an observer, Campaign, TryAcquire and RunIfLeader; Resign and
// TransferTo; Ask, SetPause, Forget and Observe.
//
// Beside what networks and stores do, machines are suspended (with monotonic clocks that count that, and with such
// that do not), wall clocks are set, reads show the past, pushes come late, calls ignore their contexts, fail for good
// or end their goroutines; and log handlers, observers, health checks and leader work block, panic and end theirs.
//
// The referee goes by what is done in a leader's name: every act begins with a yes of the API, lasts for as long as the
// API allows, and must never overlap with one under another term. Times are true, and no candidate's clock is read.
// What a machine was in the middle of when it was suspended does not count: fencing tokens are for that.
//
// Its histories are tests, since a bubble needs one. Seeds are fresh unless one is given. A history's faults come from
// its seed; which of two goroutines runs first at the same instant does not, so that a seed does not always replay the
// same outcome. A logger or an observer that is waited for shows as a test that hangs:
//
//	go test ./sim/bubble -run TestHistories -bubble.seed 42 -bubble.histories 1 -bubble.trace -v
package bubble
