// Package integration runs elections among real processes over real servers while a nemesis kills, freezes, cuts off
// and confuses both, and checks from what the processes have written down that no two of them led at once. It runs on
// Linux alone, whose one clock for all processes makes that check exact. It is never released.
package integration
