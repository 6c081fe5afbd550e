package memcached

import (
	"context"
	"fmt"

	"github.com/tenure-go/tenure"
)

// Guarantee implements [tenure.Guarantor]: best effort, whatever the server is like. It fails if a server does not
// answer.
func (s *Store) Guarantee(ctx context.Context) (tenure.Guarantee, error) {
	if err := s.ping(ctx); err != nil {
		return tenure.Guarantee{}, fmt.Errorf("memcached: guarantee: %w", err)
	}
	g := tenure.Guarantee{Grade: tenure.GradeBestEffort}
	if losses := s.seen.lost(); losses > 0 {
		g.Reasons = append(g.Reasons, fmt.Sprintf("this process has seen records vanish or go back: %d times", losses))
	}
	g.Reasons = append(g.Reasons,
		"memcached keeps records in memory only, and drops them by itself: by eviction, by a restart, by flush_all",
		"after a loss, processes that have not seen the record can lead beside the old leader, and with a token that "+
			"was there before")
	return g, nil
}
