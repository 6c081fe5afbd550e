// Package azblob keeps elections in a container of Azure Blob Storage.
//
//	store, err := azblob.Open(ctx, "azblob://myaccount/elections?create=true")
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//	candidate, err := tenure.New(store, "nightly")
//
// # Guarantees
//
// A record is one block blob. It is written with If-None-Match or If-Match, so that of several writers one wins, and a
// TTL can be as short as the round trips allow: the 15 to 60 seconds of a blob's own lease do not matter. Azure
// acknowledges a write once it is stored redundantly in the primary region, and every later read there sees it.
//
// The SDK's retries are switched off: a candidate decides by itself what to repeat, and by when. A refused condition is
// a conflict, which the candidate resolves by reading; throttling means that nothing was written, and a Retry-After is
// obeyed; after a timeout or a 5xx nobody knows, and the candidate looks.
//
// # Programs that use the lease of a blob
//
// With [WithBlobLease] whoever leads also holds the lease of a blob, so that programs which elect their leader in that
// way are excluded, and exclude. The lease lasts at least as long as the leader trusts itself, and is never infinite.
// Who takes over from a dead leader takes over its lease too. An infinite lease of another program keeps everybody out
// until it is released or broken; a lease of ours that somebody breaks is taken again if nobody else has it, and else
// the term ends when its time is over. To break it safely, give a break period of at least the TTL.
//
// # Non-guarantees
//
// Nothing is pushed, so candidates poll: README.md has the number of requests and docs/poll-costs.md what they cost.
// The second region of a geo-redundant account is a copy that lags; after a fail-over to it, acknowledged writes can be
// missing. All candidates of an election have to use the primary endpoint of one account.
package azblob
