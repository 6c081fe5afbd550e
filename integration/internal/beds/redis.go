//go:build linux

package beds

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tenure-go/tenure/internal/testserver"
)

// redisUser are the arguments of a server that knows the candidates' user. They outlive a restart.
var redisUser = []string{"--user", "tenure", "on", ">secret", "~*", "&*", "+@all"}

// Redis is one Redis server that syncs every write.
func Redis() Bed {
	return Bed{Name: "redis", About: "one server, appendfsync always", Start: func(tb testserver.TB) (*Server, error) {
		args := append([]string{"--appendonly", "yes", "--appendfsync", "always"}, redisUser...)
		r := testserver.StartRedis(tb, args...)
		return &Server{
			Version: redisVersion(r), Pool: true, Addrs: []string{r.Addr}, URL: one("redis://tenure:secret@{}/0"),
			Nodes: []Node{{Name: "redis", Process: r.Process}}, Revoke: redisRevoke(r),
		}, nil
	}}
}

// RedisSentinel is a master with two replicas, of which a Sentinel promotes one when the master goes.
func RedisSentinel() Bed {
	return Bed{Name: "redis-sentinel", About: "a master, two replicas, a Sentinel", Start: startSentinel}
}

const sentinelMaster = "mine"

func startSentinel(tb testserver.TB) (*Server, error) {
	synced := append([]string{"--appendonly", "yes", "--appendfsync", "always"}, redisUser...)
	master := testserver.StartRedis(tb, synced...)
	nodes := []*testserver.Redis{
		master, testserver.StartReplica(tb, master, synced...), testserver.StartReplica(tb, master, synced...),
	}
	sentinel := testserver.StartSentinel(tb, sentinelMaster, master, 2)
	s := &Server{
		Version: redisVersion(master) + " with Sentinel", Pool: true, Loses: true, ChangeLoses: true,
		URL: func(addrs []string) string {
			return "redis+sentinel://tenure:secret@" + addrs[len(addrs)-1] + "/" + sentinelMaster
		},
		Announced: []string{sentinel.Addr}, Revoke: redisRevoke(nodes...),
	}
	for i, n := range nodes {
		s.Addrs = append(s.Addrs, n.Addr)
		s.Nodes = append(s.Nodes, Node{Name: fmt.Sprintf("redis-%d", i), Process: n.Process})
	}
	s.Addrs = append(s.Addrs, sentinel.Addr)
	s.ChangeLeader = func() (string, error) { return sentinelFailOver(sentinel) }
	return s, nil
}

const (
	// promotes is how long a Sentinel may take to have promoted a replica, and tries how long it is given each time: it
	// gives a fail-over up that does not go on.
	promotes = 45 * time.Second
	tries    = 5 * time.Second
)

// sentinelFailOver has the Sentinel promote a replica, and waits until it has.
func sentinelFailOver(sentinel *testserver.Redis) (string, error) {
	const who = "SENTINEL GET-MASTER-ADDR-BY-NAME " + sentinelMaster
	before, err := sentinel.Do(who)
	if err != nil {
		return "", err
	}
	for end := time.Now().Add(promotes); time.Now().Before(end); {
		_, err = sentinel.Do("SENTINEL FAILOVER " + sentinelMaster) // refused while no replica is fit, or one is promoted
		for again := time.Now().Add(tries); time.Now().Before(again); time.Sleep(20 * time.Millisecond) {
			if now, err := sentinel.Do(who); err == nil && now != before {
				return "the master is at " + strings.ReplaceAll(strings.TrimSpace(now), "\n", ":"), nil
			}
		}
	}
	return "", errors.Join(errors.New("the Sentinel has promoted no replica"), err)
}

func redisRevoke(servers ...*testserver.Redis) func() (func() error, error) {
	each := func(command string) (done int, err error) {
		for _, s := range servers {
			if s.PID() == 0 {
				continue
			}
			if _, failed := s.Do(command); failed != nil {
				err = failed
				continue
			}
			done++
		}
		return done, err
	}
	return func() (func() error, error) {
		if done, err := each("ACL SETUSER tenure -@all"); done == 0 {
			return nil, fmt.Errorf("no server took the rights away: %w", err)
		}
		return func() error {
			_, err := each("ACL SETUSER tenure +@all")
			if err == nil {
				_, err = each("CONFIG REWRITE") // a Sentinel may have had the file written meanwhile
			}
			return err
		}, nil
	}
}

func redisVersion(r *testserver.Redis) string {
	info, _ := r.Do("INFO server")
	for line := range strings.Lines(info) {
		if version, ok := strings.CutPrefix(strings.TrimSpace(line), "redis_version:"); ok {
			return "Redis " + version
		}
	}
	return "Redis"
}
