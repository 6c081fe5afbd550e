package etcd

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// List implements [tenure.Lister]. It reads the keys alone, and takes no notice of those that cannot be of elections.
func (s *Store) List(ctx context.Context) ([]string, error) {
	var listed []string
	err := s.usable()
	if err == nil {
		var held []entry
		held, _, err = s.all(ctx, s.names.elections(), clientv3.WithKeysOnly())
		for _, e := range held { // in order, as etcd keeps them
			if election, ok := s.names.electionOf(e.key); ok {
				listed = append(listed, election)
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("etcd: listing: %w", err)
	}
	return listed, nil
}
