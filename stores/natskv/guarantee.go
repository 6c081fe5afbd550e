package natskv

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenure-go/tenure"
)

// Guarantee implements [tenure.Guarantor] by what the server says of the bucket now: exclusive on at least two replicas
// in files that every server syncs before it acknowledges. A client cannot see whether they do, so that has to be
// stated with [WithSyncedServers].
func (s *Store) Guarantee(ctx context.Context) (tenure.Guarantee, error) {
	if err := s.ready(ctx); err != nil {
		return tenure.Guarantee{}, fmt.Errorf("natskv: guarantee: %w", err)
	}
	info, err := s.info(ctx)
	if err != nil {
		return tenure.Guarantee{}, fmt.Errorf("natskv: guarantee: %w", err)
	}
	return guaranteeOf(info, s.config.synced), nil
}

func guaranteeOf(info *jetstream.StreamInfo, synced bool) tenure.Guarantee {
	g := tenure.Guarantee{Grade: tenure.GradeExclusive}
	c := info.Config
	if reason := lossy(c); reason != "" {
		g.Grade, g.Reasons = tenure.GradeBestEffort, append(g.Reasons, "since it was checked the bucket was changed: "+reason)
	}
	for _, reason := range limits(c, synced) {
		g.Grade, g.Reasons = min(g.Grade, tenure.GradeUntilFailover), append(g.Reasons, reason)
	}
	if c.Replicas > 1 {
		g.Reasons = append(g.Reasons, fmt.Sprintf("%d replicas: a write is acknowledged by a majority of them", c.Replicas))
	}
	if synced {
		g.Reasons = append(g.Reasons, "it was stated that all servers run with sync_interval: always; this cannot be checked")
	}
	if reason := behind(info); reason != "" {
		g.Reasons = append(g.Reasons, reason)
	}
	return g
}

// limits returns what can make acknowledged writes go, the worst first.
func limits(c jetstream.StreamConfig, synced bool) []string {
	var reasons []string
	switch {
	case c.Storage == jetstream.MemoryStorage && c.Replicas < 2:
		reasons = append(reasons, "one copy in memory: records and tokens are gone when its server restarts")
	case c.Storage == jetstream.MemoryStorage:
		reasons = append(reasons, fmt.Sprintf("%d copies in memory: records and tokens are gone when all of their servers "+
			"restart, the last of them when a majority does", c.Replicas))
	case c.Replicas < 2:
		reasons = append(reasons, "one copy: records and tokens are gone with the disk of its server")
	}
	if c.PersistMode == jetstream.AsyncPersistMode {
		reasons = append(reasons, "writes are acknowledged before they are in a file (persist mode async)")
	}
	if c.Storage == jetstream.FileStorage && !synced {
		reasons = append(reasons, "files are synced every two minutes unless the servers run with sync_interval: always: "+
			"a loss of power can take the last writes; if they do, state it (WithSyncedServers)")
	}
	return reasons
}

// behind tells which replicas do not hold everything, since the next failure could hit the others.
func behind(info *jetstream.StreamInfo) string {
	if info.Cluster == nil {
		return ""
	}
	late := 0
	for _, r := range info.Cluster.Replicas {
		if r.Offline || !r.Current {
			late++
		}
	}
	if late == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d replicas are offline or behind now", late, info.Config.Replicas)
}
