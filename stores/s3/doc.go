// Package s3 keeps elections in a bucket of Amazon S3, or of a server that is compatible with it and honours
// conditional writes.
//
//	store, err := s3.Open(ctx, "s3://my-bucket/billing?region=eu-central-1")
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//	candidate, err := tenure.New(store, "nightly")
//
// # Guarantees
//
// A record is one object. It is written with If-None-Match or If-Match, so that of several writers one wins. Every
// object carries a random nonce, so that its entity tag, a digest of the content, never recurs. Amazon S3 acknowledges
// a write once it is stored redundantly, and every later read sees it.
//
// Servers that ignore conditions exist. Before the first write the store makes three that have to be refused, and if
// one is not, every call fails with [tenure.ErrPermanent].
//
// The SDK's retries are switched off: a candidate decides by itself what to repeat, and by when. A refused condition is
// a conflict, which the candidate resolves by reading; 409 and throttling mean that nothing was written, and a
// Retry-After is obeyed; after a timeout or a 5xx nobody knows, and the candidate looks.
//
// # Non-guarantees
//
// Nothing is pushed, so candidates poll: README.md has the number of requests and docs/poll-costs.md what they cost. A
// server other than Amazon's may acknowledge what it can still lose; Guarantee says so. Replication to another bucket
// is asynchronous: all candidates of an election have to use one bucket.
package s3
