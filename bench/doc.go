// Package bench measures what tenure costs, beside something else in the same run: only ratios mean anything on a
// machine that others use too. It is never released.
//
//	make bench
package bench
