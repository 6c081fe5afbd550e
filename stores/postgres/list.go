package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// List implements [tenure.Lister].
func (s *Store) List(ctx context.Context) ([]string, error) {
	names, err := onServer(ctx, s, func(q querier) ([]string, error) {
		rows, err := q.Query(ctx, s.layout.sql.list)
		if err != nil {
			return nil, err
		}
		return pgx.CollectRows(rows, pgx.RowTo[string])
	})
	if err != nil {
		return nil, fmt.Errorf("postgres: listing: %w", err)
	}
	return names, nil
}
