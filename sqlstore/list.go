package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
)

// List implements [tenure.Lister].
func (s *Store) List(ctx context.Context) ([]string, error) {
	var names []string
	err := s.query(ctx, s.statements.list, nil, func(rows *sql.Rows) error {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		names = append(names, name)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("sqlstore: listing: %w", err)
	}
	slices.Sort(names) // bytewise, as the database may not sort
	return names, nil
}

// query calls each for every row.
func (s *Store) query(ctx context.Context, statement string, args []any, each func(*sql.Rows) error) error {
	return s.with(ctx, func(conn *sql.Conn) error { return forEach(ctx, conn, each, statement, args...) })
}

func forEach(ctx context.Context, conn *sql.Conn, each func(*sql.Rows) error, statement string, args ...any) error {
	rows, err := conn.QueryContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err says more
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
