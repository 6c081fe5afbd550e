// Package check judges the history of a chaos run.
//
// Each rule is judged by itself and ends in one of four verdicts: it held; it broke as the store's grade says that it
// may, within the reach of a fault that costs the store acknowledged writes; it was violated; or it is undecided,
// because the history holds too little, or too much, to tell. A run passes if every rule held or broke as the grade
// says. An undecided rule fails the run unless it is allowed to be undecided.
//
// All instants come from one clock, and a span of trust is one through which a process certainly trusted its lead, so
// that an overlap of two spans is no matter of opinion: there are no false alarms, whatever the machine does. What
// depends on time otherwise, such as how soon somebody leads again, is widened by the stalls that were measured while
// the run went on.
package check
