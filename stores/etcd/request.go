package etcd

import (
	"context"
	"fmt"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"github.com/tenure-go/tenure/internal/certainty"
)

// bounded sets a bound if the caller has set none, and asks for a member that knows a leader: one that was cut off from
// the others refuses at once what it could not do.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx = clientv3.WithRequireLeader(ctx)
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, patience)
}

// get returns what keys hold, at one revision.
func (s *Store) get(ctx context.Context, keys ...string) ([]entry, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	reads := make([]clientv3.Op, len(keys))
	for i, key := range keys {
		reads[i] = clientv3.OpGet(key)
	}
	reply, err := clientv3.NewKVFromKVClient(s.kv, s.client).Txn(ctx).Then(reads...).Commit()
	if err != nil {
		return nil, s.failed(err)
	}
	if len(reply.Responses) != len(keys) {
		return nil, fmt.Errorf("etcd answered %d of %d reads", len(reply.Responses), len(keys))
	}
	held := make([]entry, len(keys))
	for i, r := range reply.Responses {
		held[i].key = keys[i]
		for _, kv := range r.GetResponseRange().GetKvs() {
			held[i] = entryOf(kv)
		}
	}
	return held, nil
}

// all returns what all keys under a prefix hold, and the revision at which they do.
func (s *Store) all(ctx context.Context, prefix string, options ...clientv3.OpOption) ([]entry, int64, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	options = append(options, clientv3.WithPrefix())
	reply, err := clientv3.NewKVFromKVClient(s.kv, s.client).Get(ctx, prefix, options...)
	if err != nil {
		return nil, 0, s.failed(err)
	}
	held := make([]entry, len(reply.Kvs))
	for i, kv := range reply.Kvs {
		held[i] = entryOf(kv)
	}
	return held, reply.Header.Revision, nil
}

// write carries out operations if keys still have the revisions that are expected of them.
func (s *Store) write(ctx context.Context, expected []clientv3.Cmp, operations ...clientv3.Op) (int64, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	if err := ctx.Err(); err != nil {
		return 0, certainty.Mark(err)
	}
	var sent attempts
	reply, err := clientv3.NewKVFromKVClient(writer{s.kv, &sent}, s.client).Txn(ctx).
		If(expected...).Then(operations...).Commit()
	switch {
	case err != nil:
		return 0, sent.outcome(err)
	case !reply.Succeeded:
		return 0, errConflict
	}
	return reply.Header.Revision, nil
}

// unchanged expects a key to have a revision, zero if it is not there.
func unchanged(key string, revision int64) clientv3.Cmp {
	return clientv3.Compare(clientv3.ModRevision(key), "=", revision)
}

// writer notes each time that a write is sent.
type writer struct {
	pb.KVClient

	sent *attempts
}

// Txn implements [pb.KVClient].
func (w writer) Txn(ctx context.Context, in *pb.TxnRequest, opts ...grpc.CallOption) (*pb.TxnResponse, error) {
	return w.KVClient.Txn(ctx, in, append(opts, w.sent.options()...)...)
}
