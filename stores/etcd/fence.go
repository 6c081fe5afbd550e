package etcd

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/fence"
)

// Fence guards what a leader writes into etcd: its operations are carried out only if its token is at least the highest
// one that the fence has seen. So a leader that was deposed and does not know it, or whose write was held up on the
// way, changes nothing any more once its successor has written, or raised the fence.
//
// The highest token is kept under the fence's own key, for ever; the tokens of one fence must be of one election.
// Nobody else may write that key. All methods are safe for concurrent use.
type Fence struct {
	kv  clientv3.KV
	key string
}

// NewFence returns the fence that keeps the highest token under the key, which must not be below the prefix of a
// [Store]. The cluster may be another one than the election's, and kv a client, or a namespace within one.
func NewFence(kv clientv3.KV, key string) *Fence { return &Fence{kv, key} }

// Raise shuts out all tokens below this one. A leader that calls it before its work shuts out its predecessors though
// it has not yet written anything. For errors see [Fence.Do].
func (f *Fence) Raise(ctx context.Context, token uint64) error {
	_, err := f.Do(ctx, token)
	return err
}

// Do carries out the operations, on behalf of the term with the token, in one transaction with the check. It is one
// request; two at the first use of the fence, and for a token that is refused one. The answer has the responses to the
// operations, in their order. The transaction has one operation more, which counts towards the cluster's limit
// (--max-txn-ops, 128 by default). None of the operations may write the fence's key.
//
// If the token is out of date the error is a [fence.StaleError], and nothing was carried out. It wraps
// [tenure.ErrConfig] if no term can have the token, or if there is no key to keep it under. Any other error is the
// client's: the operations may or may not have been carried out, now or later.
func (f *Fence) Do(ctx context.Context, token uint64, operations ...clientv3.Op) (*clientv3.TxnResponse, error) {
	if err := f.check(token); err != nil {
		return nil, err
	}
	reply, err := f.do(ctx, token, operations)
	if err != nil {
		return nil, fmt.Errorf("etcd: writing behind fence %q: %w", f.key, err)
	}
	reply.Responses = reply.Responses[:len(operations)]
	return reply, nil
}

func (f *Fence) check(token uint64) error {
	switch {
	case f.key == "":
		return fmt.Errorf("etcd: %w: a fence needs a key", tenure.ErrConfig)
	case token == 0 || token > tenure.MaxToken:
		return fmt.Errorf("etcd: %w: %d is no token of a term: they count from 1", tenure.ErrConfig, token)
	}
	return nil
}

// do expects a mark to be there. A comparison with the value of a missing key fails, so that the first write of all has
// to expect that instead.
func (f *Fence) do(ctx context.Context, token uint64, operations []clientv3.Op) (*clientv3.TxnResponse, error) {
	guarded := append(slices.Clone(operations), clientv3.OpPut(f.key, markOf(token)))
	condition := f.passable(token)
	for {
		reply, err := f.kv.Txn(ctx).If(condition).Then(guarded...).Else(clientv3.OpGet(f.key)).Commit()
		if err != nil || reply.Succeeded {
			return reply, err
		}
		mark, err := markIn(reply)
		switch {
		case err != nil:
			return nil, err
		case mark > token:
			return nil, &fence.StaleError{Resource: "the fence", Token: token, Mark: mark}
		case mark > 0:
			condition = f.passable(token)
		default:
			condition = unchanged(f.key, 0)
		}
	}
}

// passable expects a mark that is not above the token.
func (f *Fence) passable(token uint64) clientv3.Cmp {
	return clientv3.Compare(clientv3.Value(f.key), "<", markOf(token+1))
}

// markOf writes a token such that etcd, which compares bytes, compares numbers.
func markOf(token uint64) string { return fmt.Sprintf("%020d", token) }

// markIn returns the mark that a refused transaction has read, zero if there is none.
func markIn(refused *clientv3.TxnResponse) (uint64, error) {
	found := refused.Responses[0].GetResponseRange().GetKvs()
	if len(found) == 0 {
		return 0, nil
	}
	mark, err := strconv.ParseUint(string(found[0].Value), 10, 64)
	if err != nil || mark == 0 {
		return 0, fmt.Errorf("its key holds %q, which is no token", found[0].Value)
	}
	return mark, nil
}
