package dualleader

import (
	"context"
	"io"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"google.golang.org/grpc"
)

// Etcd is the election of etcd's client, with the session's default TTL. Its processes lead from the return of Campaign
// until the session is done and work has returned.
func Etcd() *Peer {
	return &Peer{
		Name: "etcd concurrency", Module: "go.etcd.io/etcd/client/v3", Lease: 60 * time.Second,
		Asked: "`Done` of the session, after `Campaign` has returned",
		Can:   ServerClock, Holds: true,
		Why: "the session counts from when a reply arrives, not from when its request was sent, and looks every second; " +
			"a key that is gone is not noticed at all",
		Serve: func(c *Clock) Server { return etcdCluster{newEtcdServer(c)} },
	}
}

type etcdCluster struct{ *etcdServer }

func (s etcdCluster) Start(n *Node) Process {
	client := clientv3.NewCtxClient(context.Background())
	remote := etcdRemote{server: s.etcdServer, link: n.Link}
	client.KV = clientv3.NewKVFromKVClient(etcdKV{etcdRemote: remote}, client)
	client.Watcher = &etcdWatches{remote: remote}
	leases := clientv3.NewLeaseFromLeaseClient(etcdLeases{etcdRemote: remote}, client, n.Lease)
	client.Lease = leases
	p := again(n, func(ctx context.Context) {
		if campaign(ctx, n, client) != nil {
			pause(ctx, n.Lease/60)
		}
	})
	return etcdProcess{p, leases}
}

// campaign is one session with one campaign.
func campaign(ctx context.Context, n *Node, client *clientv3.Client) error {
	ttl := concurrency.WithTTL(int(n.Lease / time.Second))
	session, err := concurrency.NewSession(client, ttl, concurrency.WithContext(ctx))
	if err != nil {
		return err
	}
	defer func() { _ = session.Close() }()
	standing, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(session.Ctx(), cancel)
	defer stop()
	e := concurrency.NewElection(session, n.Election)
	if err := e.Campaign(standing, n.Identity); err != nil {
		return err
	}
	n.Work(standing)
	within, cancelled := context.WithTimeout(context.Background(), n.Lease/6)
	defer cancelled()
	return e.Resign(within)
}

type etcdProcess struct {
	Process
	leases clientv3.Lease
}

func (p etcdProcess) Stop() {
	p.Process.Stop()
	_ = p.leases.Close()
}

// etcdRemote carries the calls of one process.
type etcdRemote struct {
	server *etcdServer
	link   *Link
}

type etcdKV struct {
	pb.KVClient // what elections do not use
	etcdRemote
}

func (k etcdKV) Range(ctx context.Context, in *pb.RangeRequest, _ ...grpc.CallOption) (*pb.RangeResponse, error) {
	var out *pb.RangeResponse
	err := k.link.Call(ctx, 0, func() bool {
		out = k.server.get(in)
		return false
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (k etcdKV) Txn(ctx context.Context, in *pb.TxnRequest, _ ...grpc.CallOption) (*pb.TxnResponse, error) {
	var out *pb.TxnResponse
	var refused error
	err := k.link.Call(ctx, 0, func() (wrote bool) {
		for _, o := range in.Success {
			if put := o.GetRequestPut(); put != nil && !k.server.known(put.Lease) {
				refused = rpctypes.ErrLeaseNotFound
				return false
			}
		}
		out, wrote = k.server.txn(in)
		return wrote
	})
	switch {
	case err != nil:
		return nil, err
	case refused != nil:
		return nil, refused
	}
	return out, nil
}

type etcdLeases struct {
	pb.LeaseClient // what sessions do not use
	etcdRemote
}

func (l etcdLeases) LeaseGrant(
	ctx context.Context, in *pb.LeaseGrantRequest, _ ...grpc.CallOption,
) (*pb.LeaseGrantResponse, error) {
	var id int64
	err := l.link.Call(ctx, 0, func() bool {
		id = l.server.grant(in.TTL)
		return false
	})
	if err != nil {
		return nil, err
	}
	return &pb.LeaseGrantResponse{Header: &pb.ResponseHeader{}, ID: id, TTL: in.TTL}, nil
}

func (l etcdLeases) LeaseRevoke(
	ctx context.Context, in *pb.LeaseRevokeRequest, _ ...grpc.CallOption,
) (*pb.LeaseRevokeResponse, error) {
	err := l.link.Call(ctx, 0, func() bool {
		l.server.end(in.ID)
		return true
	})
	if err != nil {
		return nil, err
	}
	return &pb.LeaseRevokeResponse{Header: &pb.ResponseHeader{}}, nil
}

func (l etcdLeases) LeaseKeepAlive(
	ctx context.Context, _ ...grpc.CallOption,
) (grpc.BidiStreamingClient[pb.LeaseKeepAliveRequest, pb.LeaseKeepAliveResponse], error) {
	return &etcdStream{ctx: ctx, remote: l.etcdRemote, replies: make(chan *pb.LeaseKeepAliveResponse, 64)}, nil
}

// etcdStream is the stream that keeps leases alive. A connection that is cut looks open from its two ends.
type etcdStream struct {
	grpc.ClientStream
	ctx     context.Context
	remote  etcdRemote
	replies chan *pb.LeaseKeepAliveResponse
}

func (s *etcdStream) Context() context.Context { return s.ctx }
func (s *etcdStream) CloseSend() error         { return nil }

func (s *etcdStream) Send(in *pb.LeaseKeepAliveRequest) error {
	go func() {
		var ttl int64
		if err := s.remote.link.Call(s.ctx, 0, func() bool {
			ttl = s.remote.server.renew(in.ID)
			return true
		}); err != nil {
			return
		}
		s.replies <- &pb.LeaseKeepAliveResponse{Header: &pb.ResponseHeader{}, ID: in.ID, TTL: ttl}
	}()
	return nil
}

func (s *etcdStream) Recv() (*pb.LeaseKeepAliveResponse, error) {
	select {
	case reply := <-s.replies:
		return reply, nil
	case <-s.ctx.Done():
		return nil, s.ctx.Err()
	case <-s.remote.link.closed:
		return nil, io.EOF
	}
}

// etcdWatches are those of one process. After a partition they go on, as those of the client do, which asks again for
// what it missed.
type etcdWatches struct{ remote etcdRemote }

func (w *etcdWatches) Watch(ctx context.Context, key string, options ...clientv3.OpOption) clientv3.WatchChan {
	op := clientv3.OpGet(key, options...)
	out := make(chan clientv3.WatchResponse)
	found := make(chan clientv3.WatchResponse, 64)
	stop := w.remote.server.watch(key, op.Rev(), func(e *mvccpb.Event, revision int64) {
		found <- clientv3.WatchResponse{Header: &pb.ResponseHeader{Revision: revision}, Events: []*clientv3.Event{e}}
	})
	go func() {
		defer close(out)
		defer stop()
		for {
			select {
			case response := <-found:
				if !w.arrive(ctx) {
					return
				}
				select {
				case out <- response:
				case <-ctx.Done():
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

// arrive waits until something can arrive at the process.
func (w *etcdWatches) arrive(ctx context.Context) bool {
	for w.remote.link.Silent() {
		if !pause(ctx, time.Second) {
			return false
		}
	}
	return pause(ctx, w.remote.link.latency())
}

func (w *etcdWatches) RequestProgress(context.Context) error { return nil }
func (w *etcdWatches) Close() error                          { return nil }
