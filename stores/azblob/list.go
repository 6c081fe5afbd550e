package azblob

import "context"

// List implements [tenure.Lister]. It takes one request for every five thousand elections.
func (s *Store) List(ctx context.Context) ([]string, error) { return s.objects.List(ctx) }
