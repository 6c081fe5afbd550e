// Package worker is what the candidates of a chaos run do, each in a process of its own: it stands for election, and
// while it leads it changes fenced registers and asks a thousand times a second whether it still leads. All of that it
// writes into its history.
//
// The program of the run starts itself again for it: see [Main].
package worker
