// Package contenders has the libraries that are measured, ours among them, each used as its documentation shows, and
// the servers on which they stand.
package contenders

import "github.com/tenure-go/tenure/bench/peers"

// All returns the contenders in the order of the tables: of each server ours first.
func All() []peers.Peer {
	return []peers.Peer{
		Redis(), Rueidislock(), RueidislockNoLoop(), Redislock(), Redsync(), ClientGoOverTenure(),
		Postgres(), PostgresAdvisory(), PGLock(), Nest(),
		NATS(), NATSLeaderElection(),
		Etcd(), EtcdConcurrency(),
		Kubernetes(), ClientGo(),
	}
}
