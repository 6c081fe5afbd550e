package sqlstore

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/tenure-go/tenure"
)

// columns are those that a record is written to, in the order of row.values. Each is a field of docs/record.md, by
// the same name; what has fields of its own is JSON.
var columns = []string{
	"token", "leader", "session", "ttl_ms", "renewals", "address", "metadata", "reserved", "forgotten", "request",
	"pause", "elected_at", "renewed_at", "extra",
}

// longestText bounds a text, so that every database can hold it and none cuts it off silently.
const longestText = 1 << 20

// row is a record as the columns hold it. All are null where no record is.
type row struct {
	token, ttl, renewals     sql.NullInt64
	leader, session, address sql.NullString
	metadata, reserved       sql.NullString
	forgotten                sql.NullInt64 // 0 or 1: not every database has a boolean
	request, pause           sql.NullString
	electedAt, renewedAt     sql.NullString // text: it does not depend on time zones and options of drivers
	extra                    sql.NullString
}

// newRow refuses with ErrPermanent what could not be read again.
func newRow(record tenure.Record) (row, error) {
	r, err := rowOf(record)
	if err == nil {
		err = r.check()
	}
	if err == nil {
		_, err = r.record()
	}
	if err != nil {
		return row{}, tenure.Permanent(err)
	}
	return r, nil
}

func rowOf(record tenure.Record) (row, error) {
	if record.TTL%time.Millisecond != 0 {
		return row{}, fmt.Errorf("a TTL of %v is no whole number of milliseconds", record.TTL)
	}
	if record.Renewals > math.MaxInt64 || record.Token > tenure.MaxToken {
		return row{}, errors.New("the token or the number of renewals is too large for the database")
	}
	metadata, err1 := encoded(record.Metadata, len(record.Metadata) > 0)
	request, err2 := encoded(record.Request, record.Request != nil)
	pause, err3 := encoded(record.Pause, record.Pause != nil)
	extra, err4 := encoded(record.Extra, len(record.Extra) > 0)
	return row{
		token: number(int64(record.Token)), ttl: number(record.TTL.Milliseconds()),
		renewals: number(int64(record.Renewals)), leader: text(record.Leader), session: text(record.Session),
		address: text(record.Address), metadata: metadata, reserved: text(record.Reserved),
		forgotten: number(flag(record.Forgotten)), request: request, pause: pause,
		electedAt: instant(record.ElectedAt), renewedAt: instant(record.RenewedAt), extra: extra,
	}, errors.Join(err1, err2, err3, err4)
}

func (r *row) check() error {
	for i, value := range r.values() {
		if t, ok := value.(sql.NullString); ok && len(t.String) > longestText {
			return fmt.Errorf("column %s would hold %d bytes, more than %d", columns[i], len(t.String), longestText)
		}
	}
	return nil
}

// values are what is written, one for each of columns.
func (r *row) values() []any {
	return []any{
		r.token, r.leader, r.session, r.ttl, r.renewals, r.address, r.metadata, r.reserved, r.forgotten, r.request,
		r.pause, r.electedAt, r.renewedAt, r.extra,
	}
}

// targets are what is read into, one for each of columns.
func (r *row) targets() []any {
	return []any{
		&r.token, &r.leader, &r.session, &r.ttl, &r.renewals, &r.address, &r.metadata, &r.reserved, &r.forgotten,
		&r.request, &r.pause, &r.electedAt, &r.renewedAt, &r.extra,
	}
}

// record returns what the columns hold. What contradicts itself, or is damaged, is an error.
func (r *row) record() (tenure.Record, error) {
	if r.token.Int64 < 0 || r.renewals.Int64 < 0 {
		return tenure.Record{}, fmt.Errorf("token %d, renewals %d: negative", r.token.Int64, r.renewals.Int64)
	}
	record := tenure.Record{
		Token: uint64(r.token.Int64), Leader: r.leader.String, Session: r.session.String,
		TTL: time.Duration(r.ttl.Int64) * time.Millisecond, Renewals: uint64(r.renewals.Int64),
		Address: r.address.String, Reserved: r.reserved.String, Forgotten: r.forgotten.Int64 != 0,
	}
	if err := errors.Join(
		decode("metadata", r.metadata, &record.Metadata), decode("request", r.request, &record.Request),
		decode("pause", r.pause, &record.Pause), decode("extra", r.extra, &record.Extra),
		parse("elected_at", r.electedAt, &record.ElectedAt), parse("renewed_at", r.renewedAt, &record.RenewedAt),
	); err != nil {
		return tenure.Record{}, err
	}
	return record, consistent(record)
}

// consistent judges a record by the one codec that all stores share.
func consistent(record tenure.Record) error {
	encoded, err := json.Marshal(record)
	if err != nil {
		return err
	}
	var again tenure.Record
	return json.Unmarshal(encoded, &again)
}

func number(n int64) sql.NullInt64 { return sql.NullInt64{Int64: n, Valid: true} }
func text(s string) sql.NullString { return sql.NullString{String: s, Valid: true} }

func flag(on bool) int64 {
	if on {
		return 1
	}
	return 0
}

// instant is null for the zero time.
func instant(t time.Time) sql.NullString {
	if t.IsZero() {
		return sql.NullString{}
	}
	return text(t.UTC().Format(time.RFC3339Nano))
}

func encoded(value any, present bool) (sql.NullString, error) {
	if !present {
		return sql.NullString{}, nil
	}
	out, err := json.Marshal(value)
	return text(string(out)), err
}

func decode(column string, from sql.NullString, into any) error {
	if !from.Valid {
		return nil
	}
	if err := json.Unmarshal([]byte(from.String), into); err != nil {
		return fmt.Errorf("column %s: %w", column, err)
	}
	return nil
}

func parse(column string, from sql.NullString, into *time.Time) error {
	if !from.Valid {
		return nil
	}
	var err error
	if *into, err = time.Parse(time.RFC3339Nano, from.String); err != nil {
		return fmt.Errorf("column %s: %w", column, err)
	}
	return nil
}
