// Package network gives a candidate a network of its own, in which the kernel itself can lose packets and take the
// link away. It changes nothing in the system's network: what it makes is in namespaces that have no name, and that are
// gone, with all that is in them, when no process and no file refers to them any more, however a run has ended.
//
// It does not hide anything but the network: processes, files and users are those of the system.
package network
