// Package kubernetes keeps elections in Leases of Kubernetes' API (coordination.k8s.io/v1), the objects over which
// client-go's leader election runs: candidates and electors of client-go on one Lease exclude each other.
//
//	store, err := kubernetes.Open(ctx, "kubernetes://billing") // or New(clientset.CoordinationV1(), "billing")
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//	candidate, err := tenure.New(store, "invoices")
//
// # Guarantees
//
// A write is an update that the API server makes only if the Lease still has the resource version that the writer
// knows, so that of any number of candidates one wins. Nothing is decided by a read or by what the watch delivers;
// reads are answered by a majority of etcd. The version is the resource version, which etcd counts for all of its
// objects, so that it does not recur when a Lease is deleted and made anew.
//
// The spec of a Lease says in client-go's terms who leads, for how long in whole seconds, and when that was renewed;
// the record itself is in an annotation, which electors of client-go keep. If the spec is not the one that was written
// with the annotation, an elector of client-go has led since: the store shows that as a term of its own, with a token
// above those before, which candidates follow once it was released, or silent for its lease. The next candidate's token
// is above that.
//
// # Non-guarantees
//
// What client-go's elector does not guarantee it does not guarantee here either: it has no fencing token, its IsLeader
// reads no clock, it releases the Lease without waiting for the work, it cannot be asked to resign, and a pause does
// not end its term. See README.md.
//
// Whoever may write Leases of the namespace can do anything. A client that drops annotations, or deletes the Lease,
// takes the tokens with it, except for what the number of transitions tells of them.
package kubernetes
