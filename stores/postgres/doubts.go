package postgres

import "context"

// confirmText commits something where a commit waits for standbys: with it, all that was visible before is on their
// disks. A transaction that only reads waits for none.
const confirmText = `SELECT CASE WHEN current_setting('synchronous_standby_names') <> ''
 THEN pg_logical_emit_message(true, 'tenure'::text, ''::text)::text END`

// confirm returns once the synchronous standbys have what was read before. See package doubt.
func (s *Store) confirm(ctx context.Context, q querier, states ...found) error {
	var position *string
	if err := q.QueryRow(ctx, confirmText).Scan(&position); err != nil {
		return err
	}
	for _, f := range states {
		s.doubts.Settle(f.election, f.snapshot.Version)
	}
	return nil
}

// inDoubt reports whether a push has to be confirmed before it is told.
func (s *Store) inDoubt(f found) bool { return s.doubts.About(f.election, true) }
