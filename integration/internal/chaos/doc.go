// Package chaos makes a run: it starts a store's server, candidates that are processes of their own, and a nemesis, and
// judges what they have written down.
package chaos
