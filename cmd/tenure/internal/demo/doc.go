// Package demo elects a leader among real processes, kills, freezes and resigns leaders at random, and checks that two
// of them never led at once.
//
//	the demo --starts--> node-1, node-2, … (the same binary; candidates over one store)
//	         <--reports-- what each was answered, with the machine's boot clock
//
// The nodes are told nothing of each other and nothing of the faults. The demo asks leaders to go through the store
// alone, as any operator would, and otherwise has only signals.
//
// # What is checked
//
// Each node asks its candidate every millisecond whether it leads, and stamps the clock before and after every
// question. From after its first yes to before its last yes of a term it was certainly trusted, since trust that was
// lost does not return. All processes of a machine share the clock. So two such spans of different terms that overlap
// are two leaders at once, whatever the scheduler did: there are no false alarms, and a wrong yes of a process that
// wakes from a freeze is found.
//
// Besides, tokens must rise from term to term, trust must not return within a term, and a seat must not be given up
// while work still runs under it.
//
// [Options.Unsafe] takes the protection out of the nodes, to show that the check can fail.
package demo
