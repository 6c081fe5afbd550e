// Package beds has every store of the project with what it takes to measure it: a real server, and the bare operations
// that the store's own are measured beside.
package beds

import "github.com/tenure-go/tenure/bench"

// All returns the beds in the order of the tables.
func All() []bench.Bed {
	return []bench.Bed{
		Memory(), File(), Postgres(), PostgresPush(), PostgresAdvisory(), NATS(), NATSSynced(), NATSCluster(), NATSFar(),
		Etcd(), Kubernetes(), Redis(), RedisSynced(), RedisFar(), Memcached(), MariaDB(), SQLite(), S3(), AzureBlob(),
	}
}
