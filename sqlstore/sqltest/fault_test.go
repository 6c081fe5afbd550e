package sqltest

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
)

// known reports whether an error of a swap says that nothing was written.
func known(err error) bool {
	return errors.Is(err, tenure.ErrConflict) || errors.Is(err, tenure.ErrNotApplied) || errors.Is(err, tenure.ErrPermanent)
}

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
			if err == nil || known(err) {
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
	onServers(t, func(t *testing.T, s server) {
		d, proxy := s.proxied(t)
		direct := s.database().store(t)
		store := d.store(t)
		h := newHistory(t)
		defer h.check()
		lose := func() <-chan struct{} {
			return proxy.LoseReply(func(request []byte) bool { return bytes.Contains(request, []byte("node-unmistakable")) })
		}
		lost := lose()
		h.stand("node-unmistakable", store)
		<-lost // of the bid
		leader := h.await(0)
		for range 2 {
			<-lose()
			before, err := direct.Load(within(t), "billing")
			if err != nil {
				t.Fatal(err)
			}
			h.eventually("the term is renewed after a lost reply", func() bool {
				now, err := direct.Load(within(t), "billing")
				return err == nil && now.Record.Renewals > before.Record.Renewals
			})
		}
		if now, leads := h.leader(); !leads || now.token != leader.token {
			t.Errorf("it led as %v, and now as %v", leader, now)
		}
	})
}

// The server is frozen for longer than a lease, killed, or restarted. The leader gives up by itself, nobody else leads
// meanwhile, and afterwards somebody does, with no help and under a higher token.
func TestLeadershipThroughServerFaults(t *testing.T) {
	onServers(t, func(t *testing.T, s server) {
		h := newHistory(t)
		defer h.check()
		for _, id := range []string{"a", "b", "c"} {
			h.stand(id, s.database().store(t))
		}
		gone := func() bool { _, leads := h.leader(); return !leads }
		leader := h.await(0)
		for _, fault := range []struct {
			what           string
			begin, restore func()
		}{
			{"frozen", s.Freeze, s.Thaw},
			{"killed", s.Kill, s.Start},
			{"stopped", s.Stop, s.Start},
		} {
			fault.begin()
			h.eventually("the leader gives up while the server is "+fault.what, gone)
			fault.restore()
			leader = h.await(leader.token)
		}
		s.Restart()
		h.await(leader.token - 1) // the same term, if the restart was faster than the lease
	})
}

// The leader alone is cut off, in a way that leaves its connections open.
func TestLeaderIsCutOff(t *testing.T) {
	onServers(t, func(t *testing.T, s server) {
		h := newHistory(t)
		defer h.check()
		d, proxy := s.proxied(t)
		h.stand("behind the network", d.store(t))
		first := h.await(0)
		h.stand("beside the server", s.database().store(t))
		proxy.Hold()
		second := h.await(first.token)
		if second.id != "beside the server" {
			t.Errorf("%v leads", second)
		}
		proxy.Release()
		// The deposed one sees the new term and stands by: two polls later nothing has changed.
		time.Sleep(ttl / 2) // real servers take real time
		if now, leads := h.leader(); !leads || now.token < second.token {
			t.Errorf("after %v there is %v", second, now)
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
	onServers(t, func(t *testing.T, s server) {
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
