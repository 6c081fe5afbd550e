package natskv

import (
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testserver"
)

func TestGrades(t *testing.T) {
	for name, test := range map[string]struct {
		config jetstream.StreamConfig
		synced bool
		want   tenure.Grade
		reason string // a part of the first
	}{
		"three synced":       {jetstream.StreamConfig{Replicas: 3}, true, tenure.GradeExclusive, "majority"},
		"three":              {jetstream.StreamConfig{Replicas: 3}, false, tenure.GradeUntilFailover, "sync_interval"},
		"one synced":         {jetstream.StreamConfig{Replicas: 1}, true, tenure.GradeUntilFailover, "one copy"},
		"one":                {jetstream.StreamConfig{Replicas: 1}, false, tenure.GradeUntilFailover, "one copy"},
		"three in memory":    {jetstream.StreamConfig{Replicas: 3, Storage: jetstream.MemoryStorage}, true, tenure.GradeUntilFailover, "copies in memory"},
		"one in memory":      {jetstream.StreamConfig{Replicas: 1, Storage: jetstream.MemoryStorage}, true, tenure.GradeUntilFailover, "one copy in memory"},
		"persisted later":    {jetstream.StreamConfig{Replicas: 3, PersistMode: jetstream.AsyncPersistMode}, true, tenure.GradeUntilFailover, "async"},
		"lossy since lately": {jetstream.StreamConfig{Replicas: 3, MaxAge: 1}, true, tenure.GradeBestEffort, "was changed"},
	} {
		t.Run(name, func(t *testing.T) {
			g := guaranteeOf(&jetstream.StreamInfo{Config: test.config}, test.synced)
			if g.Grade != test.want || !strings.Contains(g.Reasons[0], test.reason) {
				t.Errorf("the guarantee is %v, %q, want %v, with %q", g.Grade, g.Reasons, test.want, test.reason)
			}
		})
	}
}

// The grade is that of the bucket as it is now, and names replicas that are not there.
func TestGuaranteeProbesTheServer(t *testing.T) {
	t.Parallel()
	cluster := testserver.StartNATSCluster(t, 3, nil)
	s := openStore(t, cluster[0].Addr, "elections?replicas=3&sync=always&servers="+cluster[1].Addr+","+cluster[2].Addr)
	grade := func() tenure.Guarantee {
		t.Helper()
		g, err := s.Guarantee(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	if g := grade(); g.Grade != tenure.GradeExclusive {
		t.Errorf("the guarantee is %v, %q", g.Grade, g.Reasons)
	}
	stopped := cluster[2]
	info, err := s.info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range cluster {
		if n.Name != info.Cluster.Leader && n.Addr != s.conn.ConnectedAddr() {
			stopped = n
		}
	}
	stopped.Kill()
	storetest.Eventually(t, "a replica is missed", func() bool { // the leader notices it after some seconds
		g, err := s.Guarantee(t.Context())
		return err == nil && strings.Contains(strings.Join(g.Reasons, "\n"), "1 of 3 replicas")
	})
	info.Config.MaxAge = 1 << 40
	if _, err := s.js.UpdateStream(t.Context(), info.Config); err != nil {
		t.Fatal(err)
	}
	if g := grade(); g.Grade != tenure.GradeBestEffort {
		t.Errorf("the guarantee of a bucket with an age limit is %v, %q", g.Grade, g.Reasons)
	}
}
