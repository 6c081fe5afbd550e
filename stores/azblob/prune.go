package azblob

import (
	"context"
	"time"
)

// Prune implements [tenure.Pruner]. How long a record is unchanged is told by the service's clock and this host's. If
// some elections cannot be pruned, Prune returns the names of those that were, together with the error.
func (s *Store) Prune(ctx context.Context, unused time.Duration) ([]string, error) {
	return s.objects.Prune(ctx, unused)
}
