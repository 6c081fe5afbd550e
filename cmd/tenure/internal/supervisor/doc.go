// Package supervisor runs a command while a candidate leads, and never otherwise.
//
// For every term it starts the command under a guard process of its own (see package guard), which is given the
// instants at which the command has to be told to stop and to be dead, and given new ones after each renewal of the
// lease:
//
//	trusted until = sent + D·(1-e) - g - drain     SignalAt: the command gets the signal
//	                trusted until + 3/4 drain      KillAt: what is left of it is killed
//	lease end     = trusted until + drain          nobody else leads before
//
// D is the TTL, e the bound on the error of the clocks' rates, g their grain.
//
// So the command ends in time even if this process is frozen. The guard holds the kernel lock of the term too, where
// the store has one: then a free lock says that this process and all of the command are dead.
package supervisor
