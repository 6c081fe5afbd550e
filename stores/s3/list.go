package s3

import "context"

// List implements [tenure.Lister]. It takes one request for every thousand elections.
func (s *Store) List(ctx context.Context) ([]string, error) { return s.objects.List(ctx) }
