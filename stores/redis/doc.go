// Package redis keeps elections in Redis or Valkey: one server, Sentinel, or a Cluster.
//
//	store, err := redis.Open(ctx, "redis://localhost:6379/0")
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//	candidate, err := tenure.New(store, "billing")
//
// # Guarantees
//
// A record is written by a script, compared and replaced as one step, and published in the same step. No key has an
// expiry: a lease is counted by the candidates, never by the server, and tokens survive. A version never recurs, not
// even if the server lost its data: every write makes a random one.
//
// A write that the client library or a proxy repeats has the answer of the first. What the server refuses (it is a
// replica, it loads, it is out of memory, the slot moves) is known not to be written; a lost reply is unknown, and
// settled by the candidate.
//
// Changes are pushed: standing candidates send nothing while the subscription delivers, and take over a seat that was
// released within a round trip or two.
//
// # Non-guarantees
//
// Redis replicates asynchronously. A fail-over, by Sentinel or in a Cluster, may promote a replica that lacks the last
// writes, and a server that starts without its data lacks all. Candidates that saw what was lost treat it as held until
// the lost lease has run out, and go on above its token. A candidate that did not see it may lead while the leader of
// the lost record still trusts itself, for the rest of that lease, and with a token that was used before. See
// [WithReplicas] for what narrows that, [Store.Guarantee] for what the live server promises, and [Fence] for what
// protects data in Redis itself.
package redis
