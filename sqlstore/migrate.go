package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tenure-go/tenure"
)

// migratePause is between two tries of a statement that met another process's.
const migratePause = 20 * time.Millisecond

// MigrationSQL returns the statements that [Store.Migrate] runs on an empty database, to be run by somebody else, such
// as an administrator or a migration tool. They can be repeated. The error wraps [tenure.ErrConfig] if an option is out
// of bounds.
func MigrationSQL(dialect Dialect, options ...Option) (string, error) {
	s, err := newStatements(dialect.Syntax(), newConfig(options))
	if err != nil {
		return "", fmt.Errorf("sqlstore: %w", err)
	}
	var out strings.Builder
	for _, step := range s.migrations {
		for _, statement := range step {
			out.WriteString(statement)
			out.WriteString(";\n")
		}
	}
	return out.String(), nil
}

// MigrationOf returns [MigrationSQL] for the database and the table that a URL of [Open] names. It connects to nothing.
func MigrationOf(rawURL string) (string, error) {
	from, err := parseURL(rawURL)
	if err != nil {
		return "", fmt.Errorf("sqlstore: %w: %w", tenure.ErrConfig, err)
	}
	return MigrationSQL(from.dialect, from.options...)
}

// Migrate makes the tables if they are not there and brings older ones to the layout that this version needs. Tables
// that are as they should be are left alone, so that it needs no right to create anything then. It may be called by
// any number of processes at once, and again after it was interrupted: every statement can be repeated, and one that
// meets another process's is tried again until ctx ends.
//
// With [WithExistingTables] it changes nothing and returns an error that wraps [tenure.ErrPermanent] if the tables are
// missing or older. Tables of a newer layout than this version knows are such an error in any case.
func (s *Store) Migrate(ctx context.Context) error {
	if err := s.migrate(ctx, true); err != nil {
		return fmt.Errorf("sqlstore: migrating: %w", err)
	}
	return nil
}

// migrate makes the tables if there are none, and if upgrade brings older ones up to date.
func (s *Store) migrate(ctx context.Context, upgrade bool) error {
	layout, err := s.layout(ctx)
	switch {
	case errors.Is(err, tenure.ErrPermanent) && !errors.Is(err, errUnsent):
		// MySQL does not tell a user without rights whether there is a table.
		return fmt.Errorf("the tables cannot be used (%w): %s", err, asAdministrator)
	case err != nil || layout == currentLayout:
		return err
	}
	if layout > currentLayout || !mayMigrate(layout, s.config.existing, upgrade) {
		return s.wrongLayout(layout)
	}
	for _, step := range s.statements.migrations[layout:] {
		for _, statement := range step {
			if err := s.insist(ctx, statement); errors.Is(err, tenure.ErrPermanent) {
				return fmt.Errorf("the tables are missing or older, and could not be made (%w): %s", err, asAdministrator)
			} else if err != nil {
				return err
			}
		}
	}
	return nil
}

// mayMigrate reports whether tables of a layout, 0 for none, may be made, or brought to the next layout: not unasked,
// since programs that know the older one alone may be at work.
func mayMigrate(layout int, existing, upgrade bool) bool {
	return !existing && (layout == 0 || upgrade)
}

// layout returns the version of the tables, 0 if there are none.
func (s *Store) layout(ctx context.Context) (layout int, err error) {
	err = s.retry(ctx, func() error {
		return s.with(ctx, func(conn *sql.Conn) error {
			return conn.QueryRowContext(ctx, s.statements.layout).Scan(&layout)
		})
	})
	if errors.Is(err, errNoTable) || errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return layout, err
}

// wrongLayout says what to do about tables of another layout than the one that is needed.
func (s *Store) wrongLayout(layout int) error {
	switch {
	case layout > currentLayout:
		return tenure.Permanent(fmt.Errorf("the tables of %s have layout %d, this version knows %d: upgrade tenure",
			s.config.table, layout, currentLayout))
	case layout == 0:
		return tenure.Permanent(fmt.Errorf("%w: %w: %s", tenure.ErrNoStore, errNoTable, s.advice()))
	}
	return tenure.Permanent(fmt.Errorf("the tables of %s have layout %d, this version needs %d: %s",
		s.config.table, layout, currentLayout, s.advice()))
}

// advice says how the tables come about.
func (s *Store) advice() string {
	if s.config.existing {
		return asAdministrator
	}
	return "call Migrate, or " + asAdministrator
}

// asAdministrator says who can make the tables where the program may not.
const asAdministrator = "have somebody who may create tables run \"tenure migrate\", or the SQL of MigrationSQL " +
	"(\"tenure migrate --print\"), and grant their use as the store's README says"

// insist runs a statement until it has been carried out, or nothing will help.
func (s *Store) insist(ctx context.Context, statement string) error {
	return s.retry(ctx, func() error {
		_, err := s.exec(ctx, statement)
		return err
	})
}

// retry calls do again as long as it meets other processes and ctx stands.
func (s *Store) retry(ctx context.Context, do func() error) error {
	for {
		err := do()
		if !errors.Is(err, tenure.ErrNotApplied) && !errors.Is(err, tenure.ErrConflict) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(max(migratePause, tenure.RetryAfter(err))):
		}
	}
}
