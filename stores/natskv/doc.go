// Package natskv keeps elections in a bucket of NATS JetStream's key-value store, on one server or replicated over
// several. Candidates are told of every change by push, and a standing candidate sends nothing.
//
//	nc, err := nats.Connect("nats://localhost:4222")
//	if err != nil {
//		return err
//	}
//	js, err := jetstream.New(nc)
//	if err != nil {
//		return err
//	}
//	store, err := natskv.New(js, "elections", natskv.WithReplicas(3))
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//	candidate, err := tenure.New(store, "billing")
//
// # Guarantees
//
// A write is one message that the server stores only if the key's last message is the expected one, so that of any
// number of candidates one wins. Nothing is decided by a read or by what the watch delivers; reads are asked of the
// stream's leader and not of a replica that may lag. The version is the message's sequence in the stream, which never
// recurs: a deleted record leaves a marker with a sequence of its own, and a bucket that this package makes begins at
// a sequence derived from the time, so that not even a bucket that was deleted and made anew repeats one.
//
// All elections of a Store share one consumer at the server, of which the server sends a sign of life in every
// [WithHeartbeat] interval. Silence, a gap, a lost connection or a deleted consumer are noticed and said, and the watch
// is restored with the current state.
//
// # Non-guarantees
//
// How far acknowledged writes survive depends on the bucket and on the servers; [Store.Guarantee] says so. In
// particular servers sync their files every two minutes unless they are configured with sync_interval: always, and the
// last writes may be gone after a loss of power. Then only those who saw them know better, and the sequences of the
// writes that are gone are given out again.
//
// A bucket that could lose a record by itself (an age limit, a size limit that discards the oldest, ...) is refused
// with [tenure.ErrPermanent]. Whoever may write to the bucket or change its settings can do anything.
package natskv
