// Package etcd keeps elections in etcd. Candidates are told of every change by push, and a standing candidate sends
// nothing while its election is led.
//
//	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"etcd-1:2379", "etcd-2:2379", "etcd-3:2379"}})
//	if err != nil {
//		return err
//	}
//	store, err := etcd.New(client)
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//	candidate, err := tenure.New(store, "billing")
//
// # Guarantees
//
// A write is one transaction, which etcd carries out only if the record's key still has the revision that the writer
// knows, so that of any number of candidates one wins. It is acknowledged when a majority of the members have synced
// it. The version is the key's modification revision: one number counts all writes of the cluster, so that none
// recurs, not after a deletion either. No lease of etcd is involved, and its clocks are not asked: who may lead is told
// by the record and by the candidates' own clocks.
//
// Reads are linearizable, that is confirmed by a majority. Requests ask for a member that knows a leader, so that one
// that was cut off from the others refuses at once. Pruning deletes a record and raises the floor above which new
// records start in one transaction.
//
// All elections of a Store share one watch of its prefix. A lost connection, a member without a leader, a watch that
// was compacted and one that is silent are noticed and said, and the watch is restored with the current state.
//
// # Non-guarantees
//
// A cluster that is restored from a snapshot has lost what was written since, and gives revisions out again unless it
// was restored with --bump-revision. A member that runs with --unsafe-no-fsync loses acknowledged writes with its
// power; a client cannot see that it does. [Store.Guarantee] says what a client can see.
//
// Whoever may write to the keys can do anything.
package etcd
