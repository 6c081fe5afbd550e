package dualleader

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
)

// etcdServer is as much of etcd as its elections use: keys with revisions and leases, transactions, and leases that
// expire by the server's monotonic clock, at which it looks twice a second.
type etcdServer struct {
	clock  *Clock
	closed chan struct{}
	done   chan struct{}

	mu       sync.Mutex
	revision int64
	keys     map[string]*mvccpb.KeyValue
	leases   map[int64]*etcdLease
	watchers map[int]etcdWatcher
	watched  int
	granted  int64
}

type etcdLease struct {
	ttl     int64 // seconds
	expires time.Duration
}

type etcdWatcher struct {
	key     string
	deliver func(*mvccpb.Event, int64)
}

func newEtcdServer(clock *Clock) *etcdServer {
	s := &etcdServer{
		clock: clock, closed: make(chan struct{}), done: make(chan struct{}), revision: 1,
		keys: map[string]*mvccpb.KeyValue{}, leases: map[int64]*etcdLease{}, watchers: map[int]etcdWatcher{},
	}
	go s.expire()
	return s
}

func (s *etcdServer) expire() {
	defer close(s.done)
	for {
		select {
		case <-s.closed:
			return
		case <-time.After(500 * time.Millisecond):
		}
		s.mu.Lock()
		now, _ := s.clock.Read()
		for _, id := range slices.Sorted(maps.Keys(s.leases)) {
			if s.leases[id].expires <= now {
				s.revoke(id)
			}
		}
		s.mu.Unlock()
	}
}

func (s *etcdServer) revoke(id int64) {
	delete(s.leases, id)
	for _, key := range slices.Sorted(maps.Keys(s.keys)) {
		if s.keys[key].Lease == id {
			s.revision++
			s.remove(key)
		}
	}
}

func (s *etcdServer) remove(key string) {
	delete(s.keys, key)
	s.tell(&mvccpb.Event{Type: mvccpb.Event_DELETE, Kv: &mvccpb.KeyValue{Key: []byte(key), ModRevision: s.revision}})
}

func (s *etcdServer) tell(event *mvccpb.Event) {
	for _, w := range s.watchers {
		if w.key == string(event.Kv.Key) {
			w.deliver(event, s.revision)
		}
	}
}

// Delete deletes the key of the oldest candidate, which is the leader.
func (s *etcdServer) Delete() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found := s.find(&pb.RangeRequest{SortOrder: pb.RangeRequest_ASCEND, Limit: 1}); len(found) > 0 {
		s.revision++
		s.remove(string(found[0].Key))
	}
}

// Backup keeps keys and leases. A restored server gives every lease its whole TTL anew, and its revision goes on
// rising, as the documentation of restoring asks for where clients watch.
func (s *etcdServer) Backup() func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys, leases := maps.Clone(s.keys), maps.Clone(s.leases)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.revision++
		for key := range s.keys {
			if _, kept := keys[key]; !kept {
				s.remove(key)
			}
		}
		s.keys, s.leases = keys, leases
		now, _ := s.clock.Read()
		for _, lease := range leases {
			lease.expires = now + time.Duration(lease.ttl)*time.Second
		}
	}
}

func (s *etcdServer) Close() {
	close(s.closed)
	<-s.done
}

func (s *etcdServer) header() *pb.ResponseHeader { return &pb.ResponseHeader{Revision: s.revision} }

func (s *etcdServer) get(request *pb.RangeRequest) *pb.RangeResponse {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.find(request)
	return &pb.RangeResponse{Header: s.header(), Kvs: found, Count: int64(len(found))}
}

// find returns the keys in the range, sorted by when they were made, and as many as asked for.
func (s *etcdServer) find(request *pb.RangeRequest) []*mvccpb.KeyValue {
	var found []*mvccpb.KeyValue
	for key, value := range s.keys {
		in := key == string(request.Key) ||
			len(request.RangeEnd) > 0 && key >= string(request.Key) && key < string(request.RangeEnd) || len(request.Key) == 0
		if in && (request.MaxCreateRevision == 0 || value.CreateRevision <= request.MaxCreateRevision) {
			found = append(found, value)
		}
	}
	slices.SortFunc(found, func(a, b *mvccpb.KeyValue) int {
		byAge := cmp.Compare(a.CreateRevision, b.CreateRevision)
		if request.SortOrder == pb.RangeRequest_DESCEND {
			return -byAge
		}
		return byAge
	})
	if request.Limit > 0 && int64(len(found)) > request.Limit {
		found = found[:request.Limit]
	}
	return found
}

// txn carries out a transaction whose conditions are all on the revision at which a key was made.
func (s *etcdServer) txn(request *pb.TxnRequest) (response *pb.TxnResponse, wrote bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	response = &pb.TxnResponse{Succeeded: true}
	for _, c := range request.Compare {
		made := int64(0)
		if value, ok := s.keys[string(c.Key)]; ok {
			made = value.CreateRevision
		}
		response.Succeeded = response.Succeeded && made == c.GetCreateRevision()
	}
	operations := request.Success
	if !response.Succeeded {
		operations = request.Failure
	}
	before := s.revision
	for _, o := range operations {
		response.Responses = append(response.Responses, s.apply(o))
	}
	response.Header = s.header()
	return response, s.revision != before
}

func (s *etcdServer) apply(o *pb.RequestOp) *pb.ResponseOp {
	switch {
	case o.GetRequestPut() != nil:
		s.put(o.GetRequestPut())
		return &pb.ResponseOp{Response: &pb.ResponseOp_ResponsePut{ResponsePut: &pb.PutResponse{Header: s.header()}}}
	case o.GetRequestDeleteRange() != nil:
		if key := string(o.GetRequestDeleteRange().Key); s.keys[key] != nil {
			s.revision++
			s.remove(key)
		}
		return &pb.ResponseOp{Response: &pb.ResponseOp_ResponseDeleteRange{
			ResponseDeleteRange: &pb.DeleteRangeResponse{Header: s.header()},
		}}
	}
	found := s.find(o.GetRequestRange())
	return &pb.ResponseOp{Response: &pb.ResponseOp_ResponseRange{
		ResponseRange: &pb.RangeResponse{Header: s.header(), Kvs: found, Count: int64(len(found))},
	}}
}

func (s *etcdServer) put(request *pb.PutRequest) {
	s.revision++
	value := &mvccpb.KeyValue{
		Key: request.Key, Value: request.Value, Lease: request.Lease, CreateRevision: s.revision, ModRevision: s.revision,
	}
	if old, ok := s.keys[string(request.Key)]; ok {
		value.CreateRevision = old.CreateRevision
	}
	s.keys[string(request.Key)] = value
	s.tell(&mvccpb.Event{Type: mvccpb.Event_PUT, Kv: value})
}

func (s *etcdServer) known(lease int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.leases[lease]
	return ok || lease == 0
}

func (s *etcdServer) grant(ttl int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.granted++
	now, _ := s.clock.Read()
	s.leases[s.granted] = &etcdLease{ttl, now + time.Duration(ttl)*time.Second}
	return s.granted
}

// renew returns the TTL of the lease, zero if it has expired.
func (s *etcdServer) renew(id int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	lease, ok := s.leases[id]
	if !ok {
		return 0
	}
	now, _ := s.clock.Read()
	lease.expires = now + time.Duration(lease.ttl)*time.Second
	return lease.ttl
}

func (s *etcdServer) end(lease int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revoke(lease)
}

// watch tells of changes of a key after a revision. One that was deleted since is told of at once.
func (s *etcdServer) watch(key string, after int64, deliver func(*mvccpb.Event, int64)) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watched++
	id := s.watched
	s.watchers[id] = etcdWatcher{key, deliver}
	if s.keys[key] == nil && s.revision >= after {
		deliver(&mvccpb.Event{Type: mvccpb.Event_DELETE, Kv: &mvccpb.KeyValue{Key: []byte(key)}}, s.revision)
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, id)
	}
}
