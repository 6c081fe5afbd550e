package sqlstore

import (
	"database/sql"
	"fmt"

	"github.com/tenure-go/tenure"
)

// state is what one row of the statement that loads holds: always the row of the meta table, and beside it the record
// of the election, if there is one.
type state struct {
	layout            int
	floor             int64
	election, version sql.NullString
	row               row
}

func (s *state) targets() []any {
	return append([]any{&s.layout, &s.floor, &s.election, &s.version}, s.row.targets()...)
}

func (s *state) snapshot(election string) (tenure.Snapshot, error) {
	switch {
	case !s.version.Valid:
		return tenure.Snapshot{Record: tenure.Record{Token: uint64(max(s.floor, 0))}}, nil
	case s.election.String != election:
		// A column, or a connection, that does not keep names byte by byte would make one election of two.
		return tenure.Snapshot{}, fmt.Errorf("the record of %q was found instead: the column election must compare bytes, "+
			"and the connection must carry UTF-8 unchanged (utf8mb4)", s.election.String)
	}
	record, err := s.row.record()
	if err != nil {
		return tenure.Snapshot{}, fmt.Errorf("the row of election %q: %w", election, err)
	}
	return tenure.Snapshot{Version: tenure.Version(s.version.String), Record: record}, nil
}
