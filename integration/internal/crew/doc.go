// Package crew runs the candidates of a chaos run, each in a process of its own, and does to them what the nemesis
// wants: kills and stops them, freezes their control group, tells them what to do.
package crew
