// Package memcached keeps elections in memcached: compare-and-swap, but no promise that a record stays.
//
//	store, err := memcached.Open(ctx, "memcached://cache:11211/billing")
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//	candidate, err := tenure.New(store, "nightly")
//
// # Guarantees
//
// While the server keeps the record, one candidate leads and tokens rise, whatever messages are lost, late or repeated:
// writes are memcached's add and cas, which are atomic. Records never expire.
//
// # Non-guarantees
//
// memcached may drop any record at any time: when memory is short (eviction), when it restarts, by flush_all. The grade
// is best effort for that reason alone. What is lost is noticed: a missing record, or one that went back, counts as
// held by every candidate that has seen a later one, for the longest lease that it has seen, and the next token is
// above the highest that it has seen; [WithLossObserver] is told.
//
// What nobody alive has seen, nobody knows: a candidate that started after the loss takes the seat at once, beside a
// leader whose lease has not run out, and if no process is left that has seen the last token, tokens start again at 1.
//
// Nothing is pushed, so candidates poll. There is no [tenure.Lister], since memcached has no complete list of its keys,
// and no [tenure.Pruner]: a floor for tokens would be dropped like any other item. Empty what is not used with
// [tenure.Forget], or leave it to eviction.
package memcached
