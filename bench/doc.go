// Package bench measures what elections cost on real stores. Only ratios mean anything on a machine that others use
// too, so everything is measured beside something else in the same run, in turn with it: a hand-over beside bare round
// trips and bare writes to the same server, a renewal beside a bare write of the same durability, a fail-over beside
// the TTL. It is never released.
//
// A [Bed] is what a store brings to be measured: its real server, stores opened as other processes would open them,
// and the bare operations. Package beds has them. [Run] measures a list of beds and returns a [Report].
//
//	make bench
package bench
