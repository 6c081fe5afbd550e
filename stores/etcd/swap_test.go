package etcd

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/tcpproxy"
	"github.com/tenure-go/tenure/internal/testserver"
)

// clients are stores over a client of both kinds: of Open, and of somebody whose client repeats requests.
func clients(t *testing.T, addr string) map[string]*Store {
	t.Helper()
	theirs, err := New(connect(t, addr))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { theirs.Close() })
	return map[string]*Store{"Open": openStore(t, addr, ""), "New": theirs}
}

// Story 24: the reply is lost after the server has stored the write. The outcome is unknown, never a conflict, and the
// record tells.
func TestLostReplyIsUnknown(t *testing.T) {
	server := testserver.StartEtcd(t)
	proxy := tcpproxy.Start(t, server.Addr)
	other := openStore(t, server.Addr, "")
	for name, s := range clients(t, proxy.Addr()) {
		t.Run(name, func(t *testing.T) {
			first := storetest.Swap(t, s, name, "", storetest.Held(1, "a"))
			next := storetest.Held(1, "a")
			next.Renewals = 1
			proxy.HoldReplies()
			outcome := make(chan error, 1)
			go func() {
				_, err := s.CompareAndSwap(t.Context(), name, first.Version, next)
				outcome <- err
			}()
			storetest.Eventually(t, "the write is stored", func() bool {
				return storetest.Load(t, other, name).Record.Renewals == 1
			})
			proxy.Cut()
			proxy.Release()
			storetest.Want(t, storetest.Unknown, <-outcome)
			storetest.Eventually(t, "the same write again is a conflict", func() bool {
				_, err := s.CompareAndSwap(t.Context(), name, first.Version, next)
				return storetest.OutcomeOf(err) == storetest.Conflict
			})
		})
	}
}

// A write that was sent and has no answer when the client is closed is in doubt, whoever closes it.
func TestClosedWhileAWriteIsUnderWay(t *testing.T) {
	server := testserver.StartEtcd(t)
	proxy := tcpproxy.Start(t, server.Addr)
	for name, s := range clients(t, proxy.Addr()) {
		t.Run(name, func(t *testing.T) {
			first := storetest.Swap(t, s, name, "", storetest.Held(1, "a"))
			server.Freeze()
			outcome, sent := make(chan error, 1), make(chan struct{}, 10)
			proxy.LoseReply(func(request []byte) bool {
				if bytes.Contains(request, []byte("b-session")) {
					sent <- struct{}{}
				}
				return false
			})
			go func() {
				_, err := s.CompareAndSwap(t.Context(), name, first.Version, storetest.Held(2, "b"))
				outcome <- err
			}()
			<-sent
			_ = s.client.Close()
			storetest.Want(t, storetest.Unknown, <-outcome)
			server.Thaw()
		})
	}
}

// Without a connection nothing is sent, neither now nor later.
func TestNothingIsSentWithoutAConnection(t *testing.T) {
	server := testserver.StartEtcd(t)
	for name, s := range clients(t, server.Addr) {
		t.Run(name, func(t *testing.T) {
			first := storetest.Swap(t, s, name, "", storetest.Held(1, "a"))
			server.Kill()
			storetest.Eventually(t, "the client has noticed", func() bool {
				_, err := s.CompareAndSwap(t.Context(), name, first.Version, storetest.Held(2, "b"))
				return storetest.OutcomeOf(err) == storetest.NotApplied
			})
			server.Start()
			storetest.Eventually(t, "the record is the one from before", func() bool {
				got, err := s.Load(t.Context(), name)
				return err == nil && got.Version == first.Version
			})
		})
	}
}

func TestFrozenServerIsUnknown(t *testing.T) {
	server := testserver.StartEtcd(t)
	s := openStore(t, server.Addr, "")
	first := storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
	server.Freeze()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second) // nothing comes, so it is waited for in full
	defer cancel()
	_, err := s.CompareAndSwap(ctx, "billing", first.Version, storetest.Held(2, "b"))
	storetest.Want(t, storetest.Unknown, err)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error is %v, want the end of the context", err)
	}
	server.Thaw()
}

// answers is a server of which each answer to a transaction is the next of a list.
type answers struct {
	pb.KVClient

	errs []error
	sent int
}

// Txn is an attempt, as the client's interceptor makes them: it sends again what it takes to be safe.
func (a *answers) Txn(_ context.Context, _ *pb.TxnRequest, opts ...grpc.CallOption) (*pb.TxnResponse, error) {
	var err error
	for _, err = range a.errs {
		a.sent++
		for _, o := range opts {
			switch o := o.(type) {
			case grpc.OnFinishCallOption:
				o.OnFinish(err)
			case grpc.PeerCallOption:
				*o.PeerAddr = peer.Peer{Addr: address{}}
			}
		}
	}
	return nil, err
}

type address struct{}

func (address) Network() string { return "tcp" }
func (address) String() string  { return "member" }

// What is known of a write for certain is what all of its attempts say: a client that repeats one after a timeout may be
// refused while the first is still to be carried out.
func TestOutcomes(t *testing.T) {
	timeout := status.Error(codes.DeadlineExceeded, "upstream request timeout")
	proposal := status.Error(codes.Unknown, "raft proposal dropped")
	for name, test := range map[string]struct {
		errs []error
		want storetest.Outcome
	}{
		"no leader":               {[]error{rpctypes.ErrGRPCNoLeader}, storetest.NotApplied},
		"too many requests":       {[]error{rpctypes.ErrGRPCRequestTooManyRequests}, storetest.NotApplied},
		"no space":                {[]error{rpctypes.ErrGRPCNoSpace}, storetest.NotApplied},
		"learner":                 {[]error{rpctypes.ErrGRPCNotSupportedForLearner}, storetest.NotApplied},
		"token invalid":           {[]error{rpctypes.ErrGRPCInvalidAuthToken}, storetest.NotApplied},
		"permissions changed":     {[]error{rpctypes.ErrGRPCAuthOldRevision}, storetest.NotApplied},
		"proposal dropped":        {[]error{proposal}, storetest.NotApplied},
		"too large":               {[]error{rpctypes.ErrGRPCRequestTooLarge}, storetest.Permanent},
		"permission denied":       {[]error{rpctypes.ErrGRPCPermissionDenied}, storetest.Permanent},
		"no user":                 {[]error{rpctypes.ErrGRPCUserEmpty}, storetest.Permanent},
		"timed out":               {[]error{rpctypes.ErrGRPCTimeout}, storetest.Unknown},
		"leader failed":           {[]error{rpctypes.ErrGRPCTimeoutDueToLeaderFail}, storetest.Unknown},
		"connection lost":         {[]error{rpctypes.ErrGRPCTimeoutDueToConnectionLost}, storetest.Unknown},
		"leader changed":          {[]error{rpctypes.ErrGRPCLeaderChanged}, storetest.Unknown},
		"stopped":                 {[]error{rpctypes.ErrGRPCStopped}, storetest.Unknown},
		"corrupt":                 {[]error{rpctypes.ErrGRPCCorrupt}, storetest.Unknown},
		"cancelled":               {[]error{rpctypes.ErrGRPCCanceled}, storetest.Unknown},
		"proxy":                   {[]error{timeout}, storetest.Unknown},
		"refused after a timeout": {[]error{timeout, rpctypes.ErrGRPCRequestTooManyRequests}, storetest.Unknown},
		"denied after a timeout":  {[]error{timeout, rpctypes.ErrGRPCPermissionDenied}, storetest.Unknown},
		"refused after a refusal": {[]error{rpctypes.ErrGRPCInvalidAuthToken, rpctypes.ErrGRPCNoSpace}, storetest.NotApplied},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := New(connect(t, "127.0.0.1:1"))
			if err != nil {
				t.Fatal(err)
			}
			s.kv = &answers{errs: test.errs}
			_, err = s.write(t.Context(), []clientv3.Cmp{unchanged("a", 1)}, clientv3.OpPut("a", "b"))
			storetest.Want(t, test.want, err)
		})
	}
}

func TestForeignValueIsPermanentAndStays(t *testing.T) {
	server := testserver.StartEtcd(t)
	s, client := openStore(t, server.Addr, ""), connect(t, server.Addr)
	for _, value := range []string{"not a record", "{}", ""} {
		if _, err := client.Put(t.Context(), s.names.key("billing"), value); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Load(t.Context(), "billing"); !errors.Is(err, tenure.ErrPermanent) || !strings.Contains(err.Error(), "billing") {
			t.Errorf("Load returned %v, want ErrPermanent with the name", err)
		}
		_, err := s.CompareAndSwap(t.Context(), "billing", "", storetest.Held(1, "a"))
		storetest.Want(t, storetest.Conflict, err)
		if pruned, err := s.Prune(t.Context(), 0); !errors.Is(err, tenure.ErrPermanent) || len(pruned) > 0 {
			t.Errorf("Prune returned %q, %v, want ErrPermanent", pruned, err)
		}
		if got, err := client.Get(t.Context(), s.names.key("billing")); err != nil || string(got.Kvs[0].Value) != value {
			t.Errorf("the value is %v, %v", got, err)
		}
	}
}

// Too large for the member to take, and too large for the client to send.
func TestTooLargeARecordIsPermanent(t *testing.T) {
	server := testserver.StartEtcd(t)
	s := openStore(t, server.Addr, "")
	for _, size := range []int{1600 << 10, 4 << 20} {
		record := storetest.Held(1, "a")
		record.Metadata = map[string]string{"long": strings.Repeat("x", size)}
		_, err := s.CompareAndSwap(t.Context(), "billing", "", record)
		storetest.Want(t, storetest.Permanent, err)
	}
	storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
}

// The alarm is raised by every member before it takes another write.
func TestFullDatabaseIsNotApplied(t *testing.T) {
	server := testserver.StartEtcd(t, "--quota-backend-bytes=2097152")
	s, client := openStore(t, server.Addr, ""), connect(t, server.Addr)
	current := storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
	storetest.Eventually(t, "the database is full", func() bool {
		_, err := client.Put(t.Context(), "ballast", strings.Repeat("x", 500<<10))
		return errors.Is(err, rpctypes.ErrNoSpace)
	})
	_, err := s.CompareAndSwap(t.Context(), "billing", current.Version, storetest.Held(2, "b"))
	storetest.Want(t, storetest.NotApplied, err)
	if got := storetest.Load(t, s, "billing"); got.Version != current.Version {
		t.Errorf("the record is %+v, want the one from before", got)
	}
	storetest.Eventually(t, "the guarantee names the alarm", func() bool {
		g, err := s.Guarantee(t.Context())
		return err == nil && g.Grade == tenure.GradeExclusive && strings.Contains(g.Reasons[0], "NOSPACE")
	})
	compact(t, client)
	if _, err := client.Defragment(t.Context(), server.Addr); err != nil {
		t.Fatal(err)
	}
	if _, err := client.AlarmDisarm(t.Context(), &clientv3.AlarmMember{}); err != nil {
		t.Fatal(err)
	}
	storetest.Swap(t, s, "billing", current.Version, storetest.Held(2, "b"))
}

// compact has the cluster forget all revisions but the current one.
func compact(t *testing.T, client *clientv3.Client) {
	t.Helper()
	now, err := client.Get(t.Context(), "any")
	if err == nil {
		_, err = client.Compact(t.Context(), now.Header.Revision, clientv3.WithCompactPhysical())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Versions go on when somebody deletes a record by hand.
func TestVersionsNeverRecurAfterDeletion(t *testing.T) {
	server := testserver.StartEtcd(t)
	s, client := openStore(t, server.Addr, ""), connect(t, server.Addr)
	seen := make(map[tenure.Version]bool)
	for range 3 {
		created := storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
		if seen[created.Version] {
			t.Fatalf("the version %q came twice", created.Version)
		}
		seen[created.Version] = true
		if _, err := client.Delete(t.Context(), s.names.key("billing")); err != nil {
			t.Fatal(err)
		}
		_, err := s.CompareAndSwap(t.Context(), "billing", created.Version, storetest.Held(2, "a"))
		storetest.Want(t, storetest.Conflict, err)
		compact(t, client)
	}
}

func TestVersionsOfOthersAreConflicts(t *testing.T) {
	server := testserver.StartEtcd(t)
	s := openStore(t, server.Addr, "")
	created := storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
	for _, version := range []tenure.Version{"x", "0", "-1", "+" + created.Version, "0" + created.Version} {
		_, err := s.CompareAndSwap(t.Context(), "billing", version, storetest.Held(2, "b"))
		storetest.Want(t, storetest.Conflict, err)
	}
}

func TestClosedStoreAndClient(t *testing.T) {
	server := testserver.StartEtcd(t)
	client := connect(t, server.Addr)
	s, err := New(client)
	if err != nil {
		t.Fatal(err)
	}
	storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if client.Ctx().Err() != nil {
		t.Error("Close closed the caller's client")
	}
	storetest.Closed(t, "a closed store", s)
	other, err := New(client)
	if err != nil {
		t.Fatal(err)
	}
	storetest.Load(t, other, "billing")
	if err := client.Close(); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	storetest.Closed(t, "a store over a closed client", other)
	opened := openStore(t, server.Addr, "")
	if opened.Close(); opened.client.Ctx().Err() == nil {
		t.Error("Close left the client that Open made")
	}
}
