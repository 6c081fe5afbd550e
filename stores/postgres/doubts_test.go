package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/certainty"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/tcpproxy"
	"github.com/tenure-go/tenure/internal/testserver"
)

// startCutOff starts a primary, and a synchronous standby that streams through a proxy.
func startCutOff(t *testing.T) (primary, standby *testserver.Postgres, stream *tcpproxy.Proxy) {
	t.Helper()
	primary = testserver.StartPostgres(t, "synchronous_standby_names=second")
	stream = tcpproxy.Start(t, primary.Addr)
	standby = testserver.StartStandby(t, stream.Addr(), "second", "synchronous_standby_names=")
	must(t, newTestStore(t, openPool(t, primary.URL())).Migrate(t.Context()))
	return primary, standby, stream
}

// within bounds calls to a primary that waits for its standby.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// abandon has a store make a write whose wait for the standby is given up, and returns once everybody sees it.
func abandon(t *testing.T, s tenure.Store, admin querier, old tenure.Version, record tenure.Record) {
	t.Helper()
	seen := func() bool {
		return scalar[int64](t, admin, "SELECT coalesce(max(renewals), 0) FROM tenure") == int64(record.Renewals)
	}
	var err error
	for timeout := 300 * time.Millisecond; timeout < patience; timeout *= 2 { // in which it has to get to the wait
		_, err = s.CompareAndSwap(within(t, timeout), "billing", old, record)
		switch {
		case err == nil:
			t.Fatal("the write that no standby had was acknowledged")
		case certainty.NotWritten(err):
			if seen() {
				t.Fatalf("the write that is seen ended with %v, want that nobody knows", err)
			}
		case soon(seen): // unless it was cancelled before
			return
		}
	}
	t.Fatalf("the write that no standby had is not seen; it ended with %v", err)
}

// soon waits for a while until something holds, and tells whether it does.
func soon(holds func() bool) bool {
	for end := time.Now().Add(10 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// A store does not take for made what it has written if no standby has it: a promotion would take it back.
func TestOwnWriteIsBelievedOnlyIfTheStandbyHasIt(t *testing.T) {
	t.Parallel()
	primary, standby, stream := startCutOff(t)
	s, admin := newTestStore(t, openPool(t, primary.URL())), openPool(t, primary.URL())
	record := held(1)
	current := storetest.Swap(t, s, "billing", "", record)
	seen := make(chan tenure.Snapshot, 100)
	stop, err := s.Watch(t.Context(), "billing", func(snapshot tenure.Snapshot, err error) {
		if err == nil {
			seen <- snapshot
		}
	})
	must(t, err)
	defer stop()
	<-seen
	stream.Hold()
	record.Request = &tenure.Request{By: "somebody"} // which is pushed, unlike a renewal
	record.Renewals++
	abandon(t, s, admin, current.Version, record)
	if got, err := s.Load(within(t, time.Second), "billing"); err == nil {
		t.Errorf("Load returned renewal %d, which no standby has", got.Record.Renewals)
	}
	select {
	case got := <-seen:
		t.Errorf("renewal %d was pushed, which no standby has", got.Record.Renewals)
	default:
	}
	if got := storetest.Load(t, newTestStore(t, admin), "billing"); got.Record.Renewals != record.Renewals {
		t.Errorf("another store sees renewal %d, want %d", got.Record.Renewals, record.Renewals)
	}
	primary.Kill()
	stream.Cut()
	stream.Release()
	standby.Promote(t)
	got := storetest.Load(t, newTestStore(t, openPool(t, standby.URL())), "billing")
	if got.Version != current.Version {
		t.Errorf("the promoted standby has renewal %d: nothing was lost, so that nothing was tested", got.Record.Renewals)
	}
}

// Once the standby has it, it is believed.
func TestOwnWriteIsBelievedOnceTheStandbyHasIt(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testserver.Postgres) tenure.Store{
		"table": func(p *testserver.Postgres) tenure.Store { return newTestStore(t, openPool(t, p.URL())) },
		"advisory": func(p *testserver.Postgres) tenure.Store {
			s, err := NewAdvisory(openPool(t, p.URL()), WithValidation(time.Minute, time.Second/4))
			must(t, err)
			t.Cleanup(func() { _ = s.Close() })
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			primary, _, stream := startCutOff(t)
			s, admin := open(primary), openPool(t, primary.URL())
			stream.Hold()
			abandon(t, s, admin, "", held(1))
			if _, err := s.Load(within(t, time.Second), "billing"); err == nil {
				t.Error("Load returned what no standby has")
			}
			stream.Release()
			ctx := within(t, patience)
			got, err := s.Load(ctx, "billing")
			must(t, err)
			record := got.Record
			record.Renewals++
			_, err = s.CompareAndSwap(ctx, "billing", got.Version, record)
			must(t, err)
		})
	}
}

// A primary and its leader are parted from the standby and the follower, and the standby is promoted: the leader has
// renewed in vain, and must not go on for longer than its last renewal that counts.
func TestLeaderBesideACutOffPrimaryIsNotTrustedForLong(t *testing.T) {
	t.Parallel()
	primary, standby, stream := startCutOff(t)
	toPrimary := tcpproxy.Start(t, primary.Addr)
	f := fleet.New(t)
	f.Stand(newTestStore(t, openPool(t, primary.URL())), "beside the primary")
	first := f.Next()
	url := testserver.PostgresURL(toPrimary.Addr()+","+standby.Addr) + "&target_session_attrs=read-write"
	f.Stand(newTestStore(t, openPool(t, url)), "elsewhere")
	f.Known(first)
	toPrimary.Hold()
	stream.Hold()
	time.Sleep(fleet.TTL * 3 / 2) // the follower's patience is real time, as that of processes is
	last, _ := f.Leader()         // the first, unless it was late and led again
	standby.Promote(t)
	toPrimary.Refuse(true)
	toPrimary.Cut()
	if next := f.Lasting(last.Token, 1); next.Leader != "elsewhere" {
		t.Errorf("%q leads", next.Leader)
	}
	f.Check()
}
