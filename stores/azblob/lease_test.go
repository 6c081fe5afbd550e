package azblob

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/lease"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/httpproxy"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testserver"
)

// foreigner is a program that elects its leader by the lease of a blob.
type foreigner struct {
	t *testing.T
	*lease.BlobClient
}

func newForeigner(t *testing.T, server *testserver.Azurite, blobName string) foreigner {
	t.Helper()
	c, err := lease.NewBlobClient(client(t, server, server.Addr).NewBlobClient(blobName), nil)
	if err != nil {
		t.Fatal(err)
	}
	return foreigner{t, c}
}

// acquires reports whether the lease could be had.
func (f foreigner) acquires(duration int32) bool {
	f.t.Helper()
	_, err := f.AcquireLease(f.t.Context(), duration, nil)
	if err != nil && !bloberror.HasCode(err, bloberror.LeaseAlreadyPresent) {
		f.t.Fatal(err)
	}
	return err == nil
}

func (f foreigner) release() {
	f.t.Helper()
	if _, err := f.ReleaseLease(f.t.Context(), nil); err != nil {
		f.t.Fatal(err)
	}
}

// breakNow takes the lease from whoever holds it.
func (f foreigner) breakNow() {
	f.t.Helper()
	if _, err := f.BreakLease(f.t.Context(), &lease.BlobBreakOptions{BreakPeriod: to.Ptr(int32(0))}); err != nil {
		f.t.Fatal(err)
	}
}

func begin(t *testing.T) (*testserver.Azurite, *Store, foreigner) {
	t.Helper()
	server := testserver.StartAzurite(t)
	return server, openStore(t, server, server.Addr, WithBlobLease("locks/*")), newForeigner(t, server, "locks/e")
}

func vacant(r tenure.Record) tenure.Record { return tenure.Record{Token: r.Token, TTL: r.TTL} }

// A term excludes the other program from its first write to its last, and no longer.
func TestLeaseIsHeldForTheTerm(t *testing.T) {
	_, s, foreign := begin(t)
	current := storetest.Swap(t, s, "e", "", storetest.Held(1, "a"))
	for range 3 {
		if foreign.acquires(15) {
			t.Fatal("another program has the lease too")
		}
		current.Record.Renewals++
		current = storetest.Swap(t, s, "e", current.Version, current.Record)
	}
	current = storetest.Swap(t, s, "e", current.Version, vacant(current.Record))
	if !foreign.acquires(15) {
		t.Fatal("the lease outlives its term")
	}
	foreign.release()
	storetest.Swap(t, s, "e", current.Version, storetest.Held(2, "a"))
	if foreign.acquires(15) {
		t.Error("another program has the lease in the second term")
	}
}

// The other program excludes all candidates, and they are told how to get rid of a lease without end.
func TestLeaseOfAnother(t *testing.T) {
	_, s, foreign := begin(t)
	current := storetest.Swap(t, s, "e", "", storetest.Held(1, "a"))
	current = storetest.Swap(t, s, "e", current.Version, vacant(current.Record))
	for duration, want := range map[int32]string{15: "until it runs out", -1: "for ever"} {
		if !foreign.acquires(duration) {
			t.Fatal("the lease is not free")
		}
		_, err := s.CompareAndSwap(t.Context(), "e", current.Version, storetest.Held(2, "a"))
		if storetest.OutcomeOf(err) != storetest.NotApplied || !strings.Contains(err.Error(), want) || tenure.RetryAfter(err) == 0 {
			t.Errorf("while another program leads: %v, want %q", err, want)
		}
		if now := storetest.Load(t, s, "e"); now.Version != current.Version {
			t.Errorf("while another program leads: %+v", now)
		}
		foreign.release()
	}
	storetest.Swap(t, s, "e", current.Version, storetest.Held(2, "a"))
}

// A broken lease is taken again, unless somebody was faster: then the leader renews no more.
func TestBrokenLease(t *testing.T) {
	_, s, foreign := begin(t)
	current := storetest.Swap(t, s, "e", "", storetest.Held(1, "a"))
	foreign.breakNow()
	current.Record.Renewals++
	current = storetest.Swap(t, s, "e", current.Version, current.Record)
	if foreign.acquires(15) {
		t.Fatal("the lease was not taken again")
	}
	foreign.breakNow()
	if !foreign.acquires(15) {
		t.Fatal("the lease was not broken")
	}
	current.Record.Renewals++
	if _, err := s.CompareAndSwap(t.Context(), "e", current.Version, current.Record); storetest.OutcomeOf(err) != storetest.NotApplied {
		t.Errorf("the lease is another's: %v", err)
	}
	storetest.Swap(t, s, "e", current.Version, vacant(current.Record)) // which it may: nobody acts any more
	foreign.release()                                                  // it is still the other's, which that has left alone
}

// A lease that breaks, but has not ended yet, is not taken again before it has.
func TestBreakingLease(t *testing.T) {
	_, s, foreign := begin(t)
	current := storetest.Swap(t, s, "e", "", storetest.Held(1, "a"))
	if _, err := foreign.BreakLease(t.Context(), &lease.BlobBreakOptions{BreakPeriod: to.Ptr(int32(60))}); err != nil {
		t.Fatal(err)
	}
	current.Record.Renewals++
	if _, err := s.CompareAndSwap(t.Context(), "e", current.Version, current.Record); storetest.OutcomeOf(err) != storetest.NotApplied {
		t.Errorf("the lease breaks: %v", err)
	}
}

// Who takes over from a dead leader does not wait for the end of its lease; who lost the race gives back what it took.
func TestLeaseOfADeadLeader(t *testing.T) {
	server, dead, foreign := begin(t)
	old := storetest.Swap(t, dead, "e", "", storetest.Held(1, "a"))
	s := openStore(t, server, server.Addr, WithBlobLease("locks/*"))
	current := storetest.Swap(t, s, "e", old.Version, storetest.Held(2, "b"))
	if foreign.acquires(15) {
		t.Error("another program got in between")
	}
	if _, err := dead.CompareAndSwap(t.Context(), "e", old.Version, storetest.Held(1, "a")); err == nil {
		t.Error("the dead leader has renewed")
	}
	current.Record.Renewals++
	storetest.Swap(t, s, "e", current.Version, current.Record)
}

// The lease that is taken over was for a shorter TTL. It has to last as long as the new term's.
func TestLeaseOfADeadLeaderIsMadeLonger(t *testing.T) {
	server, dead, _ := begin(t)
	short := storetest.Held(1, "a")
	short.TTL = minLease
	old := storetest.Swap(t, dead, "e", "", short)
	proxy := httpproxy.Start(t, server.Addr)
	var actions []string
	proxy.Inject(httpproxy.Strip().When(func(r *http.Request) bool {
		if action := r.Header.Get("X-Ms-Lease-Action"); action != "" {
			actions = append(actions, action+" "+r.Header.Get("X-Ms-Lease-Duration"))
		}
		return false
	}))
	s := openStore(t, server, proxy.Addr(), WithBlobLease("locks/*"))
	storetest.Swap(t, s, "e", old.Version, storetest.Held(2, "b"))
	if want := []string{"acquire 60", "change ", "acquire 60"}; !slices.Equal(actions, want) {
		t.Errorf("the lease was taken by %q, want %q", actions, want)
	}
}

// The record changes between the look at it and the write. The lease stays that of the living leader.
func TestLeaseAfterALostRace(t *testing.T) {
	server, leader, foreign := begin(t)
	current := storetest.Swap(t, leader, "e", "", storetest.Held(1, "a"))
	rival := openStore(t, server, server.Addr, WithBlobLease("locks/*"))
	undo, err := rival.prepare(t.Context(), "e", current.Version, storetest.Held(2, "b"))
	if err != nil {
		t.Fatal(err)
	}
	undo(t.Context())
	current.Record.Renewals++
	storetest.Swap(t, leader, "e", current.Version, current.Record)
	if foreign.acquires(15) {
		t.Error("nobody has the lease")
	}
	_, err = rival.CompareAndSwap(t.Context(), "e", current.Version, storetest.Held(2, "b"))
	if storetest.OutcomeOf(err) != storetest.Conflict {
		t.Errorf("from an old version: %v", err)
	}
}

// Somebody asks something of the leader through a store of their own.
func TestRequestsLeaveTheLeaseAlone(t *testing.T) {
	server, leader, _ := begin(t)
	current := storetest.Swap(t, leader, "e", "", storetest.Held(1, "a"))
	operator := openStore(t, server, server.Addr, WithBlobLease("locks/*"))
	current.Record.Request = &tenure.Request{Token: 1}
	current = storetest.Swap(t, operator, "e", current.Version, current.Record)
	current.Record.Renewals++
	storetest.Swap(t, leader, "e", current.Version, current.Record)
	if _, leading := operator.leases.term("e"); leading {
		t.Error("the operator renews the leader's lease")
	}
}

// Nobody knows what became of a bid. The next one of the same store is not kept out by the lease that was taken for it.
func TestLeaseAfterAnUnknownBid(t *testing.T) {
	server, _, foreign := begin(t)
	proxy := httpproxy.Start(t, server.Addr)
	s := openStore(t, server, proxy.Addr(), WithBlobLease("locks/*"))
	current := storetest.Swap(t, s, "e", "", storetest.Held(1, "a"))
	current = storetest.Swap(t, s, "e", current.Version, vacant(current.Record))
	proxy.Inject(httpproxy.LoseRequest().On(http.MethodPut, "elections/e.json").Times(1))
	if _, err := s.CompareAndSwap(t.Context(), "e", current.Version, storetest.Held(2, "a")); storetest.OutcomeOf(err) != storetest.Unknown {
		t.Fatalf("a lost bid: %v", err)
	}
	storetest.Swap(t, s, "e", current.Version, storetest.Held(3, "a"))
	if foreign.acquires(15) {
		t.Error("nobody has the lease")
	}
}

func TestLeaseThatNoBlobCanHold(t *testing.T) {
	_, s, _ := begin(t)
	record := storetest.Held(1, "a")
	record.TTL = maxLease + time.Second
	_, err := s.CompareAndSwap(t.Context(), "e", "", record)
	if storetest.OutcomeOf(err) != storetest.Permanent || !errors.Is(err, tenure.ErrConfig) {
		t.Errorf("a TTL of %v: %v", record.TTL, err)
	}
}

// A mixed fleet: candidates and a program that knows nothing of them take turns.
func TestFleetAndForeigner(t *testing.T) {
	server, _, _ := begin(t)
	f := fleet.New(t)
	var stops []func()
	for _, id := range []string{"a", "b"} {
		stops = append(stops, f.Stand(openStore(t, server, server.Addr, WithBlobLease("old-lock")), id, fleet.Patient...))
	}
	term := f.Next()
	foreign := newForeigner(t, server, "old-lock")
	if foreign.acquires(-1) {
		t.Fatal("two lead")
	}
	for _, stop := range stops {
		stop()
	}
	if term.Valid() {
		t.Error("a stopped candidate leads")
	}
	if !foreign.acquires(-1) {
		t.Fatal("the lease was not released")
	}
	f.Stand(openStore(t, server, server.Addr, WithBlobLease("old-lock")), "c")
	if term, begun := f.Within(2 * fleet.TTL); begun {
		t.Errorf("%s leads beside another program", term.Leader)
	}
	if _, err := foreign.ReleaseLease(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	f.Next()
	f.Check()
}
