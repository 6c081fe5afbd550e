package natskv

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/fleet"
	"github.com/tenure-go/tenure/internal/scenario"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testserver"
)

// Story 26: candidates that stand send nothing while the watch delivers. The server counts.
func TestFollowersAreSilent(t *testing.T) {
	t.Parallel()
	server := testserver.StartNATS(t)
	f := fleet.New(t)
	defer f.Check()
	// A long interval between signs of life keeps a busy machine from being taken for a silent server.
	rest := func(name string) string { return "elections?heartbeat=10s&name=" + name }
	often := tenure.WithRenewInterval(fleet.TTL / 12)
	f.Stand(openStore(t, server.Addr, rest("leader")), "leader", tenure.WithTTL(fleet.TTL), often)
	f.Next()
	for i := range 9 {
		f.Stand(openStore(t, server.Addr, rest("follower")), fmt.Sprint("follower-", i), tenure.WithTTL(fleet.TTL), often)
	}
	observer := openStore(t, server.Addr, rest("observer"))
	var current tenure.Snapshot
	renewals := func() uint64 {
		current = storetest.Load(t, observer, fleet.Election)
		return current.Record.Renewals
	}
	begun := renewals()
	storetest.Eventually(t, "all have settled", func() bool { return renewals() >= begun+3 })
	leader, followers := server.Received("leader"), server.Received("follower")
	if followers == 0 {
		t.Fatal("the server knows of no follower")
	}
	begun = renewals()
	storetest.Eventually(t, "some leases have passed", func() bool { return renewals() >= begun+12 })
	written := int64(renewals()-begun) + 2 // the count may have begun and ended in between two renewals
	if sent := server.Received("follower") - followers; sent != 0 {
		t.Errorf("9 followers have sent %d messages while the leader renewed %d times", sent, written)
	}
	if sent := server.Received("leader") - leader; sent > written+1 {
		t.Errorf("the leader has sent %d messages for %d renewals", sent, written)
	}
	if current.Record.Leader != "leader" {
		t.Errorf("%s leads", current.Record.Leader)
	}
}

// A herd: when the leader of 500 candidates resigns, the server gets one release, one bid that it accepts, and of each
// of the others at most one that it rejects. On several servers that one may be sent again.
func TestHerd(t *testing.T) {
	t.Run("one server", func(t *testing.T) { herd(t, testserver.StartNATS(t), "", 1) })
	t.Run("three servers", func(t *testing.T) {
		// A bid that meets another one on its way into the copies is sent again.
		herd(t, testserver.StartNATSCluster(t, 3, nil)[0], "&replicas=3", 2)
	})
}

func herd(t *testing.T, server *testserver.NATS, parameters string, sends int64) {
	t.Helper()
	var stores []tenure.Store
	for range 20 {
		stores = append(stores, openStore(t, server.Addr, "elections?heartbeat=10s"+parameters))
	}
	observer := openStore(t, server.Addr, "elections?"+strings.TrimPrefix(parameters, "&"))
	// Every write that is tried passes a subscriber of its subject, whether JetStream takes it or not.
	var tried atomic.Int64
	counter := connect(t, server.Addr).Conn()
	if _, err := counter.Subscribe("$KV.elections.fleet", func(*nats.Msg) { tried.Add(1) }); err != nil {
		t.Fatal(err)
	}
	scenario.Herd{
		Candidates: 500, Stores: stores, Sends: sends,
		Sent: func() int64 { return server.Received("") },
		Tried: func() int64 {
			if err := counter.Flush(); err != nil {
				t.Fatal(err)
			}
			return tried.Load()
		},
		Accepted: func() int64 {
			info, err := observer.info(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return int64(info.State.LastSeq)
		},
	}.Check(t)
}
