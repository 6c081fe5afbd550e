package s3

import (
	"context"
	"time"
)

// Prune implements [tenure.Pruner]. How long a record is unchanged is told by the server's clock and this host's. If
// the server ignores the condition of a deletion, records are emptied instead (see [tenure.Forget]). If some elections
// cannot be pruned, Prune returns the names of those that were, together with the error.
func (s *Store) Prune(ctx context.Context, unused time.Duration) ([]string, error) {
	return s.objects.Prune(ctx, unused)
}
