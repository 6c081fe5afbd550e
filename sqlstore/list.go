package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
)

// List implements [tenure.Lister].
func (s *Store) List(ctx context.Context) ([]string, error) {
	names, err := collect(ctx, s, func(rows *sql.Rows) (name string, err error) {
		err = rows.Scan(&name)
		return name, err
	}, s.statements.list)
	if err != nil {
		return nil, fmt.Errorf("sqlstore: listing: %w", err)
	}
	slices.Sort(names) // bytewise, as the database may not sort
	return names, nil
}

// collect returns what scan makes of each row.
func collect[T any](
	ctx context.Context, s *Store, scan func(*sql.Rows) (T, error), statement string, args ...any,
) (all []T, err error) {
	err = s.with(ctx, func(conn *sql.Conn) error {
		return s.reread(ctx, func() error {
			all = nil
			return forEach(ctx, conn, func(rows *sql.Rows) error {
				one, err := scan(rows)
				all = append(all, one)
				return err
			}, statement, args...)
		})
	})
	return all, err
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
