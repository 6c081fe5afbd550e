// Package bubble is the second mode of the simulator: the real candidate, its goroutine, its timers and its calls, in
// bubbles of fake time. It knows fewer faults than the first mode, which drives the pure machine, and is slower by far;
// but what it checks is what users run.
//
// Its histories are tests, since a bubble needs one. A history's faults come from its seed; which of two goroutines
// runs first at the same instant does not, so that a seed replays the same faults, but not always the same outcome:
//
//	go test ./sim/bubble -run TestHistories -bubble.seed 42 -bubble.histories 1 -v
package bubble
