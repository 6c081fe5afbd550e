// Command mutate changes the source in one place at a time, by the compiler's overlay, and has the tests judge each
// such mutant: what no test notices is either the same program written otherwise, or a gap in the tests. make mutants
// and make mutants-short call it; the first explains itself in survivors.txt, the second is closed by a test.
//
// It proves nothing about what none of its operators can write, and nothing about races: no judge runs with the race
// detector.
package main
