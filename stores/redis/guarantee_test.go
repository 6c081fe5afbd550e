package redis

import (
	"strings"
	"testing"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/testserver"
)

func TestGuarantee(t *testing.T) {
	server := testserver.StartRedis(t, "--appendonly", "yes", "--appendfsync", "always")
	s := storeAt(t, server)
	for _, c := range []struct {
		change string
		grade  tenure.Grade
		reason string
	}{
		{"CONFIG SET maxmemory-policy noeviction", tenure.GradeExclusive, "appendfsync always"},
		{"CONFIG SET maxmemory-policy volatile-lru maxmemory 100mb", tenure.GradeExclusive, "evicts nothing"},
		{"CONFIG SET maxmemory-policy allkeys-lru maxmemory 100mb", tenure.GradeBestEffort, "allkeys-lru may evict"},
		{"CONFIG SET maxmemory-policy allkeys-random maxmemory 0", tenure.GradeExclusive, "once maxmemory is set"},
		{"CONFIG SET maxmemory-policy noeviction no-appendfsync-on-rewrite yes", tenure.GradeUntilFailover, "rewritten"},
		{"CONFIG SET no-appendfsync-on-rewrite no appendfsync everysec", tenure.GradeUntilFailover, "everysec"},
		{"CONFIG SET appendfsync no", tenure.GradeUntilFailover, "appendfsync is no"},
		{"CONFIG SET appendonly no", tenure.GradeUntilFailover, "is off"},
	} {
		server.MustDo(c.change)
		checkGuarantee(t, c.change, s, c.grade, c.reason)
	}
}

func checkGuarantee(t *testing.T, what string, s *Store, grade tenure.Grade, reason string) {
	t.Helper()
	g, err := s.Guarantee(t.Context())
	must(t, err)
	if g.Grade != grade || !strings.Contains(strings.Join(g.Reasons, "\n"), reason) {
		t.Errorf("%s: the guarantee is %v because of %q, want %v because of something like %q",
			what, g.Grade, g.Reasons, grade, reason)
	}
}

func TestGuaranteeWithReplicas(t *testing.T) {
	master := testserver.StartRedis(t, "--appendonly", "yes", "--appendfsync", "always")
	replica := testserver.StartReplica(t, master)
	checkGuarantee(t, "a replica", storeAt(t, master), tenure.GradeUntilFailover, "1 replicas follow asynchronously")
	checkGuarantee(t, "WAIT", storeAt(t, master, WithReplicas(1, 1e9)), tenure.GradeUntilFailover, "waits for 1")
	sentinel := testserver.StartSentinel(t, "mine", master, 1)
	replica.Kill()
	master.Await("INFO replication", "connected_slaves:0")
	checkGuarantee(t, "a replica that is away", storeAt(t, master), tenure.GradeUntilFailover, "have followed")
	s := openAt(t, "redis+sentinel://"+sentinel.Addr+"/mine")
	checkGuarantee(t, "Sentinel", s, tenure.GradeUntilFailover, "Sentinel may")
}

func TestGuaranteeWithoutTheRightToAsk(t *testing.T) {
	server := testserver.StartRedis(t, "--appendonly", "yes", "--appendfsync", "always")
	server.MustDo("ACL SETUSER tenure on >secret ~* &* +@all -config")
	checkGuarantee(t, "no CONFIG", newStore(t, newClient(t, server.Addr, asUser)), tenure.GradeUntilFailover, "not permitted")
	server.MustDo("ACL SETUSER tenure -info")
	_, err := newStore(t, newClient(t, server.Addr, asUser)).Guarantee(t.Context())
	must(t, isFor(err, tenure.ErrPermanent))
}

// The weakest master of a Cluster decides.
func TestGuaranteeOfACluster(t *testing.T) {
	t.Parallel()
	nodes := testserver.StartRedisCluster(t, 2, "--appendonly", "yes", "--appendfsync", "always")
	s := newStore(t, newClusterClient(t, nodes))
	checkGuarantee(t, "two good masters", s, tenure.GradeExclusive, "appendfsync always")
	nodes[1].MustDo("CONFIG SET maxmemory-policy allkeys-lru maxmemory 100mb")
	checkGuarantee(t, "one that evicts", s, tenure.GradeBestEffort, "evict")
}
