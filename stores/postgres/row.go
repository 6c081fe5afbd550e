package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tenure-go/tenure"
)

// querier is a connection, a transaction or a pool.
type querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// schemaVersion is the last step of schema.sql, and what this program asks of the database.
const schemaVersion = 1

// maxLockTimeout bounds how long a write waits for a lock if its context does not.
const maxLockTimeout = 5 * time.Second

// load reads one election's state. The error is the driver's, or says that the server or the row cannot be used.
func (l *layout) load(ctx context.Context, q querier, election string) (tenure.Snapshot, error) {
	_, snapshot, err := scan(q.QueryRow(ctx, l.sql.load, election))
	return snapshot, err
}

// swapOptions are what a swap needs beside the record.
type swapOptions struct {
	// lockTimeout is how long the write may wait for others, such as a fenced transaction; at least a millisecond.
	lockTimeout time.Duration
	// tellRenewals says that a mere renewal is told on the channel too.
	tellRenewals bool
}

// swapped is what a swap returns: the state as stored, and whether the write was a renewal and nothing else.
type swapped struct {
	tenure.Snapshot
	renewal bool
}

// swap writes record if the version is still old, in one statement, which notifies as well. No row that matches is a
// [tenure.ErrConflict]; any other error is the driver's, to be judged by outcome.
func (l *layout) swap(
	ctx context.Context, q querier, election string, old tenure.Version, record tenure.Record, o swapOptions,
) (swapped, error) {
	row, err := rowOf(record)
	if err != nil {
		return swapped{}, err
	}
	var expected *string
	sql := l.sql.create
	if old != "" {
		if !isVersion(old) {
			return swapped{}, tenure.ErrConflict
		}
		sql, expected = l.sql.replace, (*string)(&old)
	}
	timeout := strconv.FormatInt(max(o.lockTimeout.Milliseconds(), 1), 10)
	args := append([]any{election, expected, timeout}, row...)
	args = append(args, o.tellRenewals, l.channel)
	var version string
	var renewal bool
	var told *string
	err = q.QueryRow(ctx, sql, args...).Scan(&version, &renewal, &told)
	if isNoRows(err) {
		return swapped{}, tenure.ErrConflict
	}
	if err != nil {
		return swapped{}, err
	}
	return swapped{tenure.Snapshot{Version: tenure.Version(version), Record: stored(record)}, renewal}, nil
}

// isVersion reports whether a version may be one of ours: anything else never was current.
func isVersion(v tenure.Version) bool {
	return len(v) == 36 && strings.Trim(string(v), "0123456789abcdef-") == ""
}

// rowOf returns the values of a record's columns: token, leader, session, ttl, renewals, address, metadata, reserved,
// forgotten, request, pause, extra, leader_elected_at, leader_renewed_at. What the columns cannot hold is refused.
func rowOf(r tenure.Record) ([]any, error) {
	if err := fits(r); err != nil {
		return nil, tenure.Permanent(err)
	}
	var texts [4]*string
	for i, value := range []any{nonNil(r.Metadata), orNil(r.Request), orNil(r.Pause), orNilMap(r.Extra)} {
		if value == nil {
			continue
		}
		text, err := json.Marshal(value)
		if err != nil {
			return nil, tenure.Permanent(err)
		}
		s := string(text)
		texts[i] = &s
	}
	return []any{
		int64(r.Token), r.Leader, r.Session, r.TTL.Microseconds(), int64(r.Renewals), r.Address, texts[0], r.Reserved,
		r.Forgotten, texts[1], texts[2], texts[3], instant(r.ElectedAt), instant(r.RenewedAt),
	}, nil
}

func nonNil(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// orNil avoids an interface that holds a nil pointer.
func orNil[T any](p *T) any {
	if p == nil {
		return nil
	}
	return p
}

func orNilMap(m map[string]json.RawMessage) any {
	if len(m) == 0 {
		return nil
	}
	return m
}

// instant returns nil for the zero time.
func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = storedTime(t)
	return &t
}

// storedTime returns what the column keeps of a time.
func storedTime(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}

// stored returns the record as the row holds it.
func stored(r tenure.Record) tenure.Record {
	r = r.Clone()
	r.ElectedAt, r.RenewedAt = storedTime(r.ElectedAt), storedTime(r.RenewedAt)
	return r
}

// fits refuses what would not be read back as it was written.
func fits(r tenure.Record) error {
	switch {
	case r.Token > tenure.MaxToken:
		return fmt.Errorf("the token %d is above the largest, %d", r.Token, uint64(tenure.MaxToken))
	case r.Renewals > math.MaxInt64:
		return fmt.Errorf("the number of renewals, %d, is above the largest bigint", r.Renewals)
	case r.TTL < 0 || r.TTL > tenure.MaxTTL || r.TTL%time.Microsecond != 0:
		return fmt.Errorf("a TTL of %v is out of bounds or no whole number of microseconds", r.TTL)
	case r.Leader != "" && (r.Session == "" || r.TTL == 0):
		return fmt.Errorf("leader %q has no session or no TTL", r.Leader)
	}
	return checkTexts(r)
}

// checkTexts refuses what PostgreSQL's text cannot hold. JSON would turn the one half of it into something else.
func checkTexts(r tenure.Record) error {
	texts := []string{r.Leader, r.Session, r.Address, r.Reserved}
	for key, value := range r.Metadata {
		texts = append(texts, key, value)
	}
	if r.Request != nil {
		texts = append(texts, r.Request.To, r.Request.By)
	}
	if r.Pause != nil {
		texts = append(texts, r.Pause.By, r.Pause.Reason)
	}
	for _, text := range texts {
		if strings.ContainsRune(text, 0) || !utf8.ValidString(text) {
			return fmt.Errorf("PostgreSQL cannot hold the text %.40q: it contains a NUL or is no valid UTF-8", text)
		}
	}
	return nil
}

// row is a row of the statements that read columns. All but the first three are null if the record is missing.
type row struct {
	standby             bool
	readableBy          int
	floor               int64
	version             *string
	token               *int64
	leader, session     *string
	ttl, renewals       *int64
	address, metadata   *string
	reserved            *string
	forgotten           *bool
	request, pause      *string
	extra               *string
	electedAt, renewdAt *time.Time
}

// scan reads the election and its state from a row of a load.
func scan(from pgx.Row) (election string, _ tenure.Snapshot, _ error) {
	var r row
	err := from.Scan(&election, &r.standby, &r.readableBy, &r.floor, &r.version, &r.token, &r.leader, &r.session,
		&r.ttl, &r.renewals, &r.address, &r.metadata, &r.reserved, &r.forgotten, &r.request, &r.pause, &r.extra,
		&r.electedAt, &r.renewdAt)
	switch {
	case isNoRows(err):
		return "", tenure.Snapshot{}, tenure.Permanent(errNoState)
	case err != nil:
		return "", tenure.Snapshot{}, err
	case r.standby:
		return "", tenure.Snapshot{}, errStandby
	case r.readableBy > schemaVersion:
		return "", tenure.Snapshot{}, tenure.Permanent(fmt.Errorf(
			"the tables have a version that needs programs of schema version %d, this one has %d: upgrade tenure",
			r.readableBy, schemaVersion))
	case r.version == nil:
		return election, tenure.Snapshot{Record: tenure.Record{Token: uint64(r.floor)}}, nil
	}
	record, err := r.record()
	if err == nil {
		err = fits(record)
	}
	if err != nil {
		return "", tenure.Snapshot{}, tenure.Permanent(fmt.Errorf("the row of %q is damaged: %w", election, err))
	}
	return election, tenure.Snapshot{Version: tenure.Version(*r.version), Record: record}, nil
}

func (r *row) record() (tenure.Record, error) {
	record := tenure.Record{
		Token: uint64(*r.token), Leader: *r.leader, Session: *r.session, TTL: time.Duration(*r.ttl) * time.Microsecond,
		Renewals: uint64(*r.renewals), Address: *r.address, Reserved: *r.reserved, Forgotten: *r.forgotten,
	}
	if r.electedAt != nil {
		record.ElectedAt = r.electedAt.UTC()
	}
	if r.renewdAt != nil {
		record.RenewedAt = r.renewdAt.UTC()
	}
	for _, column := range []struct {
		name string
		text *string
		into any
	}{
		{"metadata", r.metadata, &record.Metadata},
		{"request", r.request, &record.Request},
		{"pause", r.pause, &record.Pause},
		{"extra", r.extra, &record.Extra},
	} {
		if column.text == nil {
			continue
		}
		if err := json.Unmarshal([]byte(*column.text), column.into); err != nil {
			return tenure.Record{}, fmt.Errorf("column %s: %w", column.name, err)
		}
	}
	if len(record.Metadata) == 0 {
		record.Metadata = nil
	}
	return record, nil
}
