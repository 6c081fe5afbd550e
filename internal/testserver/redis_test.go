package testserver

import (
	"strings"
	"testing"
)

// A replica that was promoted is still the master after a restart, as the Sentinel that has it write down its
// configuration expects: else nobody would be.
func TestRedisKeepsWhatItWasTold(t *testing.T) {
	master := StartRedis(t)
	replica := StartReplica(t, master)
	replica.MustDo("REPLICAOF NO ONE")
	replica.MustDo("CONFIG REWRITE")
	replica.Restart()
	if role := replica.MustDo("ROLE"); !strings.HasPrefix(role, "master\n") {
		t.Errorf("after a restart the promoted replica is a %s", role)
	}
}
