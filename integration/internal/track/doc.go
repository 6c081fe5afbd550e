// Package track keeps the record of bugs that simulation, tests against real servers, chaos runs or users have found in
// the code around the protocol, and shows that they stay out: each is put back into the source by the compiler's
// overlay, and the test that its row names has to fail. Those of the protocol itself are the simulator's to keep.
package track
