// Package history is what the processes of a chaos run write down, and what is read of it afterwards.
//
// Each process appends lines of JSON to a file of its own, one event a line, with one call of the system per line: a
// process that is killed leaves all of its lines but for, at most, half of the last one. Every event is stamped with
// the machine's one boot clock, so that the events of all processes have one order, and times of different processes
// can be compared exactly.
//
//	{"at":26114000219321,"process":"b","life":2,"elected":{"token":7,"session":"KJ3…"}}
//
// A process keeps its name when it is started again and begins a new life, with a new file. Times are nanoseconds of
// the boot clock, durations nanoseconds.
//
// The clock is exact on Linux alone, where chaos runs are made. Elsewhere the wall clock stands in for it, so that the
// package can be compiled and tested; it can be stepped, and proves nothing.
package history
