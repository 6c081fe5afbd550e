package sqltest

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/scenario"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/tcpproxy"
	"github.com/tenure-go/tenure/internal/testserver"
)

// The server commits, and its answer is lost. The store must not say that nothing was written.
func TestReplyLostAfterCommit(t *testing.T) {
	onServers(t, func(t *testing.T, s server) {
		d, proxy := s.proxied(t)
		store, direct := d.store(t), s.database().store(t)
		record := tenure.Record{Token: 1, Leader: "unmistakable", Session: "s", TTL: ttl, Renewals: 1}
		var current tenure.Snapshot
		for _, what := range []string{"creation", "replacement"} {
			lost := proxy.LoseReply(func(request []byte) bool { return bytes.Contains(request, []byte(record.Leader)) })
			_, err := store.CompareAndSwap(within(t), "billing", current.Version, record)
			select {
			case <-lost:
			default:
				t.Fatalf("%s: no reply was lost, and the error is %v", what, err)
			}
			if storetest.OutcomeOf(err) != storetest.Unknown {
				t.Errorf("%s: the error is %v, want one that leaves the outcome open", what, err)
			}
			if current, err = direct.Load(within(t), "billing"); err != nil || current.Record.Renewals != record.Renewals {
				t.Fatalf("%s: the server holds %+v, %v", what, current, err)
			}
			record.Renewals++
		}
	})
}

// A candidate whose winning bid, and whose renewals, lose their replies leads on under one token.
func TestLeadershipSurvivesLostReplies(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, s server) {
		t.Parallel()
		d, proxy := s.proxied(t)
		direct := s.database().store(t)
		store := d.store(t)
		f := fleet.New(t)
		defer f.Check()
		lose := func() <-chan struct{} {
			return proxy.LoseReply(func(request []byte) bool { return bytes.Contains(request, []byte("node-unmistakable")) })
		}
		lost := lose()
		f.Stand(store, "node-unmistakable", fleet.Patient...)
		<-lost // of the bid
		term := f.Next()
		for range 2 {
			<-lose()
			before := storetest.Load(t, direct, fleet.Election)
			storetest.Eventually(t, "the term is renewed after a lost reply", func() bool {
				now, err := direct.Load(within(t), fleet.Election)
				return err == nil && now.Record.Renewals > before.Record.Renewals
			})
		}
		f.Stays(term, 0)
	})
}

// The server is frozen for longer than a lease, killed, or restarted. The leader gives up by itself, nobody else leads
// meanwhile, and afterwards somebody does, with no help and under a higher token.
func TestLeadershipThroughServerFaults(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, s server) {
		t.Parallel()
		open := func() tenure.Store { return s.database().store(t) }
		scenario.Outages(t, open, scenario.Freeze(s.Process), scenario.Kill(s.Process), scenario.Stop(s.Process))
	})
}

func TestLeadershipThroughARestart(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, s server) {
		t.Parallel()
		scenario.TermOutlives(t, func() tenure.Store { return s.database().store(t) }, s.Restart)
	})
}

// The leader alone is cut off.
func TestLeaderIsCutOff(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, s server) {
		t.Parallel()
		for name, cutOff := range scenario.CutOffs() {
			t.Run(name, func(t *testing.T) {
				open := func(addr string) tenure.Store { return s.via(addr).store(t) }
				scenario.LeaderIsCutOff(t, s.addr, open, cutOff)
			})
		}
	})
}

// Nobody is there to take the call: certainly nothing was written.
func TestNoConnectionIsNotApplied(t *testing.T) {
	onServers(t, func(t *testing.T, s server) {
		d, proxy := s.proxied(t)
		store := d.store(t)
		record := tenure.Record{Token: 1, Leader: "a", Session: "s", TTL: ttl}
		current, err := store.CompareAndSwap(within(t), "billing", "", record)
		if err != nil {
			t.Fatal(err)
		}
		proxy.Refuse(true)
		proxy.Cut()
		record.Renewals++
		// The first call may meet a connection of the pool that was cut, the second one surely needs a new one.
		_, _ = store.CompareAndSwap(within(t), "billing", current.Version, record)
		if _, err = store.CompareAndSwap(within(t), "billing", current.Version, record); !errors.Is(err, tenure.ErrNotApplied) {
			t.Errorf("the error is %v, want ErrNotApplied", err)
		}
		proxy.Refuse(false)
		if _, err = store.CompareAndSwap(within(t), "billing", current.Version, record); err != nil {
			t.Errorf("after the network was repaired: %v", err)
		}
	})
}

// All connections of the pool are dead after a restart of the server. That costs no call.
func TestRestartCostsNoCall(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, s server) {
		t.Parallel()
		d := s.database()
		db := d.open(t)
		db.SetMaxIdleConns(8)
		store := d.storeOver(t, db)
		var conns []interface{ Close() error }
		for range 8 {
			conn, err := db.Conn(within(t))
			if err != nil {
				t.Fatal(err)
			}
			conns = append(conns, conn)
		}
		for _, conn := range conns {
			conn.Close()
		}
		s.Restart()
		record := tenure.Record{Token: 1, Leader: "a", Session: "s", TTL: ttl}
		if _, err := store.CompareAndSwap(within(t), "billing", "", record); err != nil {
			t.Errorf("the first call after the restart: %v", err)
		}
	})
}

// What a store of PostgreSQL has written, and given up waiting for, is seen by everybody while the synchronous standby
// does not have it. The store that wrote it does not take that for its own success.
func TestOwnWriteIsBelievedOnlyOnceTheStandbyHasIt(t *testing.T) {
	t.Parallel()
	s := startPostgreSQL(t, "synchronous_standby_names=second")
	stream := tcpproxy.Start(t, s.addr)
	testserver.StartStandby(t, stream.Addr(), "second", "synchronous_standby_names=")
	store, other := s.database().store(t), s.database().store(t)
	record := tenure.Record{Token: 1, Leader: "a", Session: "s", TTL: ttl}
	current := storetest.Swap(t, store, "billing", "", record)
	stream.Hold()
	record.Renewals++
	brief, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := store.CompareAndSwap(brief, "billing", current.Version, record)
	if storetest.OutcomeOf(err) != storetest.Unknown {
		t.Fatalf("the write that the standby has not got ended with %v", err)
	}
	storetest.Eventually(t, "everybody else sees the write", func() bool {
		return storetest.Load(t, other, "billing").Record.Renewals == 1
	})
	brief, cancel = context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if got, err := store.Load(brief, "billing"); err == nil {
		t.Errorf("Load returned renewal %d, which the standby has not got", got.Record.Renewals)
	}
	stream.Release()
	if got, err := store.Load(within(t), "billing"); err != nil || got.Record.Renewals != 1 {
		t.Errorf("Load returned %+v, %v", got, err)
	}
}
