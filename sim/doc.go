// Package sim drives the election protocol through random histories full of faults and checks every rule of it on
// each. A history is made from one number, its seed, and replays exactly from that.
//
// A World is a discrete-event model of several processes and their store: it owns true time, the clocks of every
// machine (which err), the network and the store, and it does around each protocol.Machine what the runtime does.
// A referee watches from outside and knows what no process can know: true time, and the store's whole history.
//
// This is the pure mode: the machine alone, a thousand histories a second and more. Package bubble is the other mode,
// with the real candidate in bubbles of testing/synctest.
package sim
