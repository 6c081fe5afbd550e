package etcd

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"github.com/tenure-go/tenure"
)

// answerWithin is how long a member may owe an answer to a stream.
const answerWithin = 3 * time.Second

// stream is a watch of all keys of a store at one member. The client library's own watch goes on at another member by
// itself and tells nobody that it has not heard for a while, or that the cluster has lost the revision that it waits
// for; so this is the plain stream of etcd's protocol.
type stream struct {
	grpc.BidiStreamingClient[pb.WatchRequest, pb.WatchResponse]

	ctx      context.Context
	cancel   context.CancelCauseFunc
	ping     time.Duration
	revision int64 // the highest that was seen

	mu    sync.Mutex
	asked bool        // for a sign of life
	timer *time.Timer // fires when the member was silent for too long
}

// stream begins to watch at a revision. What happened there comes once more. Whoever begins closes.
func (s *Store) stream(ctx context.Context, revision int64) (*stream, error) {
	ctx, cancel := context.WithCancelCause(clientv3.WithRequireLeader(ctx))
	w := &stream{ctx: ctx, cancel: cancel, ping: s.config.ping, revision: revision}
	if err := w.begin(s); err != nil {
		w.close()
		return nil, s.failed(w.explained(err))
	}
	return w, nil
}

func (w *stream) begin(s *Store) (err error) {
	w.mu.Lock()
	w.asked = true // the answer to the request is owed
	w.timer = time.AfterFunc(answerWithin, w.silent)
	w.mu.Unlock()
	w.BidiStreamingClient, err = pb.NewWatchClient(s.client.ActiveConnection()).Watch(w.ctx,
		grpc.MaxCallRecvMsgSize(math.MaxInt32))
	if err != nil {
		return err
	}
	return w.Send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: &pb.WatchCreateRequest{
		Key: []byte(s.names.prefix), RangeEnd: []byte(clientv3.GetPrefixRangeEnd(s.names.prefix)),
		// Not the next one: a member owes no sign of life before it has the revision to start from.
		StartRevision: w.revision, Fragment: true,
	}}})
}

func (w *stream) close() {
	w.cancel(context.Canceled)
	w.timer.Stop()
}

// silent asks for a sign of life, or gives up a member that owes one.
func (w *stream) silent() {
	w.mu.Lock()
	asked := w.asked
	w.asked = true
	w.timer.Reset(answerWithin)
	w.mu.Unlock()
	if asked {
		w.cancel(errSilent)
		return
	}
	_ = w.Send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_ProgressRequest{ // an error is told to next
		ProgressRequest: &pb.WatchProgressRequest{},
	}})
}

func (w *stream) heard() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = false
	w.timer.Reset(w.ping)
}

// next waits for changes and returns them, none if the member has only given a sign of life. An error is the end of the
// stream.
func (w *stream) next() ([]entry, error) {
	reply, err := w.Recv()
	if err != nil {
		return nil, w.explained(err)
	}
	w.heard()
	if err := w.check(reply); err != nil {
		return nil, err
	}
	changed := make([]entry, len(reply.Events))
	for i, event := range reply.Events {
		changed[i] = changeOf(event)
	}
	return changed, nil
}

func changeOf(event *mvccpb.Event) entry {
	if event.Type == mvccpb.Event_DELETE {
		return entry{key: string(event.Kv.Key)}
	}
	return entryOf(event.Kv)
}

// check refuses what says that changes were or will be missed. A member may begin behind what was read from a majority,
// but not stay there: it would say nothing of what the others know.
func (w *stream) check(reply *pb.WatchResponse) error {
	switch {
	case reply.CompactRevision != 0:
		return errCompacted
	case reply.Canceled:
		return cancelled(reply.CancelReason)
	case !reply.Created && reply.Header.GetRevision() < w.revision:
		return errBehind
	}
	w.revision = max(w.revision, reply.Header.GetRevision())
	return nil
}

// cancelled returns why a member has ended a watch, which it says in words.
func cancelled(reason string) error {
	err := fmt.Errorf("the member has ended the watch: %s", reason)
	for _, one := range []error{rpctypes.ErrGRPCPermissionDenied, rpctypes.ErrGRPCUserEmpty} {
		if reason == one.Error() {
			return tenure.Permanent(err)
		}
	}
	return err
}

// explained returns why the stream was given up, rather than that it was.
func (w *stream) explained(err error) error {
	if cause := context.Cause(w.ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return rpctypes.Error(err)
}
