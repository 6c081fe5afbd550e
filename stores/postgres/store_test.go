package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/storetest"
)

// full returns a record in which every field has a value.
func full() tenure.Record {
	at := time.Date(2026, time.February, 28, 23, 59, 58, 765_432_000, time.UTC)
	return tenure.Record{
		Token: 7, Leader: "node-a", Session: "4f1d", TTL: 1500 * time.Millisecond, Renewals: 12, Address: "10.1.2.3:80",
		Metadata: map[string]string{"zone": "b"}, Reserved: "node-b", Forgotten: true,
		Request:   &tenure.Request{Token: 7, To: "node-b", By: "ops", At: at.Add(123 * time.Nanosecond)},
		Pause:     &tenure.Pause{By: "ops", Reason: "moving", At: at},
		ElectedAt: at, RenewedAt: at.Add(time.Minute),
		Extra: map[string]json.RawMessage{"later": json.RawMessage(`{"n":1e5,"m":1.00}`)},
	}
}

func TestEveryFieldIsStoredAsItIs(t *testing.T) {
	want := full()
	for i := range reflect.TypeFor[tenure.Record]().NumField() {
		if reflect.ValueOf(want).Field(i).IsZero() {
			t.Fatalf("the test gives no value to %s", reflect.TypeFor[tenure.Record]().Field(i).Name)
		}
	}
	s := openStore(t, server(t))
	written := storetest.Swap(t, s, "billing", "", want)
	for what, got := range map[string]tenure.Snapshot{"returned": written, "loaded": storetest.Load(t, s, "billing")} {
		if !reflect.DeepEqual(got.Record, want) {
			t.Errorf("%s record: %+v, want %+v", what, got.Record, want)
		}
		if got.Version != written.Version {
			t.Errorf("%s version: %s, want %s", what, got.Version, written.Version)
		}
	}
}

func TestColumnsAreReadable(t *testing.T) {
	s := openStore(t, server(t))
	record := full()
	record.Pause, record.Forgotten = nil, false
	storetest.Swap(t, s, "billing", "", record)
	var election, leader, until, zone, to string
	err := s.pool.QueryRow(t.Context(), `SELECT election, leader, (until - renewed_at)::text, metadata->>'zone', request->>'to'
FROM tenure_leaders WHERE NOT overdue`).Scan(&election, &leader, &until, &zone, &to)
	must(t, err)
	got := []string{election, leader, until, zone, to}
	if want := []string{"billing", "node-a", "00:00:01.5", "b", "node-b"}; !reflect.DeepEqual(got, want) {
		t.Errorf("the view shows %q, want %q", got, want)
	}
}

func TestWhatColumnsCannotHoldIsRefused(t *testing.T) {
	s := openStore(t, server(t))
	for name, spoil := range map[string]func(*tenure.Record){
		"token":              func(r *tenure.Record) { r.Token = tenure.MaxToken + 1 },
		"renewals":           func(r *tenure.Record) { r.Renewals = 1 << 63 },
		"TTL":                func(r *tenure.Record) { r.TTL = time.Nanosecond },
		"long TTL":           func(r *tenure.Record) { r.TTL = tenure.MaxTTL + time.Second },
		"leader without":     func(r *tenure.Record) { r.Session = "" },
		"NUL in address":     func(r *tenure.Record) { r.Address = "a\x00b" },
		"NUL in metadata":    func(r *tenure.Record) { r.Metadata = map[string]string{"a": "\x00"} },
		"bytes in metadata":  func(r *tenure.Record) { r.Metadata = map[string]string{"a": "\xff"} },
		"bytes in a request": func(r *tenure.Record) { r.Request = &tenure.Request{By: "\xff"} },
		"no JSON":            func(r *tenure.Record) { r.Extra = map[string]json.RawMessage{"a": json.RawMessage("{")} },
	} {
		record := held(1)
		spoil(&record)
		if _, err := s.CompareAndSwap(t.Context(), name, "", record); !errors.Is(err, tenure.ErrPermanent) {
			t.Errorf("%s: %v, want ErrPermanent", name, err)
		}
		if storetest.Load(t, s, name).Exists() {
			t.Errorf("%s: it was written", name)
		}
	}
}

func TestDamagedRowIsPermanent(t *testing.T) {
	s := openStore(t, server(t))
	storetest.Swap(t, s, "billing", "", held(1))
	exec(t, s.pool, `UPDATE tenure SET metadata = '[1]'`)
	if _, err := s.Load(t.Context(), "billing"); !errors.Is(err, tenure.ErrPermanent) ||
		!strings.Contains(err.Error(), "metadata") {
		t.Errorf("Load: %v, want ErrPermanent that names the column", err)
	}
}

// What a statement did not do for want of a lock is known, soon, and done later.
func TestLockedRowDelaysAWriteAndDoesNotHangIt(t *testing.T) {
	t.Parallel()
	s := openStore(t, server(t))
	current := storetest.Swap(t, s, "billing", "", held(1))
	tx, err := s.pool.Begin(t.Context())
	must(t, err)
	defer tx.Rollback(context.Background())
	exec(t, tx, `SELECT FROM tenure WHERE election = 'billing' FOR KEY SHARE`)

	renewal := held(1)
	renewal.Renewals++
	current = storetest.Swap(t, s, "billing", current.Version, renewal) // touches no key column

	givesUp(t, func(ctx context.Context) error {
		_, err := s.CompareAndSwap(ctx, "billing", current.Version, held(2))
		return err
	})
	if got := scalar[string](t, s.pool, "SHOW lock_timeout"); got != "0" {
		t.Errorf("the session keeps a lock timeout of %s", got)
	}
	must(t, tx.Rollback(context.Background()))
	storetest.Swap(t, s, "billing", current.Version, held(2))
}

func TestWaitForALockLeavesAQuarterOfTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for left, want := range map[time.Duration]time.Duration{
			400 * time.Millisecond: 300 * time.Millisecond, 4 * time.Second: 3 * time.Second, time.Minute: maxLockTimeout,
		} {
			ctx, cancel := context.WithTimeout(t.Context(), left)
			if got := lockTimeout(ctx); got != want {
				t.Errorf("with %v left it waits for %v, want %v", left, got, want)
			}
			cancel()
		}
		if got := lockTimeout(t.Context()); got != maxLockTimeout {
			t.Errorf("without a deadline it waits for %v, want %v", got, maxLockTimeout)
		}
	})
}

func TestCompareAndSwapIsOneRoundTrip(t *testing.T) {
	proxy, url := openProxy(t, server(t))
	_ = proxy
	s := openStore(t, url)
	trips := 0
	conn, err := pgx.Connect(t.Context(), url)
	must(t, err)
	defer conn.Close(context.Background())
	count := counter{conn, &trips}
	first, err := s.layout.swap(t.Context(), count, "billing", "", held(1), swapOptions{time.Second, true})
	must(t, err)
	_, err = s.layout.swap(t.Context(), count, "billing", first.Version, held(2), swapOptions{time.Second, true})
	must(t, err)
	if trips != 2 {
		t.Errorf("two swaps took %d statements", trips)
	}
}

// counter counts statements.
type counter struct {
	querier
	statements *int
}

func (c counter) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	*c.statements++
	return c.querier.QueryRow(ctx, sql, args...)
}

// Renewals stay on the page of their row and touch no index, so that they do not bloat.
func TestRenewalsAreHeapOnlyUpdates(t *testing.T) {
	s := openStore(t, server(t))
	record := held(1)
	current := storetest.Swap(t, s, "billing", "", record)
	const renewals = 500
	for range renewals {
		record.Renewals++
		current = storetest.Swap(t, s, "billing", current.Version, record)
	}
	var all, hot int
	storetest.Eventually(t, "the statistics have arrived", func() bool {
		must(t, s.pool.QueryRow(t.Context(),
			`SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'tenure'`).Scan(&all, &hot))
		return all == renewals
	})
	if hot != renewals {
		t.Errorf("%d of %d renewals were heap-only", hot, all)
	}
	if size := scalar[int](t, s.pool, `SELECT pg_relation_size('tenure')::int`); size > 3*8192 {
		t.Errorf("after %d renewals the table has %d bytes", renewals, size)
	}
}

func TestTimesAreTheDatabases(t *testing.T) {
	s := openStore(t, server(t))
	record := held(1)
	record.ElectedAt = time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)
	current := storetest.Swap(t, s, "billing", "", record)
	at := func(column string) time.Time {
		return scalar[time.Time](t, s.pool, `SELECT `+column+` FROM tenure`)
	}
	elected, renewed := at("elected_at"), at("renewed_at")
	if age := scalar[float64](t, s.pool, `SELECT extract(epoch FROM clock_timestamp() - elected_at)::float8 FROM tenure`); age > 60 {
		t.Errorf("elected %v seconds ago", age)
	}
	record.Request = &tenure.Request{Token: 1}
	current = storetest.Swap(t, s, "billing", current.Version, record)
	if !at("renewed_at").Equal(renewed) || !at("changed_at").After(renewed) {
		t.Error("a request must change changed_at and not renewed_at")
	}
	record.Renewals++
	current = storetest.Swap(t, s, "billing", current.Version, record)
	if !at("elected_at").Equal(elected) || !at("renewed_at").After(renewed) {
		t.Error("a renewal must change renewed_at and not elected_at")
	}
	record.Token++
	storetest.Swap(t, s, "billing", current.Version, record)
	if !at("elected_at").After(elected) {
		t.Error("a new term must change elected_at")
	}
}

func TestClosedStore(t *testing.T) {
	s := openStore(t, server(t))
	must(t, s.Close())
	must(t, s.Close())
	_, loading := s.Load(t.Context(), "billing")
	_, swapping := s.CompareAndSwap(t.Context(), "billing", "", held(1))
	_, watching := s.Watch(t.Context(), "billing", func(tenure.Snapshot, error) {})
	_, listing := s.List(t.Context())
	_, pruning := s.Prune(t.Context(), 0)
	_, guarantee := s.Guarantee(t.Context())
	for _, err := range []error{loading, swapping, watching, listing, pruning, guarantee, s.Migrate(t.Context())} {
		if !errors.Is(err, tenure.ErrPermanent) {
			t.Errorf("a closed store returns %v, want ErrPermanent", err)
		}
	}
	must(t, s.pool.Ping(t.Context())) // the pool is its owner's
}

// A pool may run its statements in any of the ways that pgx knows.
func TestQueryModes(t *testing.T) {
	url := server(t)
	openStore(t, url)
	for _, mode := range []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"} {
		s := newTestStore(t, openPool(t, url+"&default_query_exec_mode="+mode))
		first := storetest.Swap(t, s, mode, "", full())
		storetest.Swap(t, s, mode, first.Version, full())
		if got := storetest.Load(t, s, mode); !reflect.DeepEqual(got.Record, full()) {
			t.Errorf("%s: the record is %+v", mode, got.Record)
		}
		h := watchElection(t, s, mode)
		storetest.Eventually(t, "a watch delivers with "+mode, func() bool { return reflect.DeepEqual(h.last().Record, full()) })
		names, err := s.List(t.Context())
		must(t, err)
		if len(names) == 0 || names[len(names)-1] == "" {
			t.Errorf("%s: the names are %q", mode, names)
		}
		_, err = s.Prune(t.Context(), time.Hour)
		must(t, err)
		checkGuarantee(t, s, tenure.GradeExclusive, "no standby")
	}
}

// A migration makes the plans of prepared statements invalid. Nobody may give up for that.
func TestPlansFromBeforeAMigration(t *testing.T) {
	s := openStore(t, server(t)+"&pool_max_conns=1")
	current := storetest.Swap(t, s, "billing", "", held(1))
	storetest.Load(t, s, "billing")
	exec(t, openPool(t, s.pool.Config().ConnString()), `ALTER TABLE tenure ALTER COLUMN reserved TYPE varchar(1000)`)
	if _, err := s.Load(t.Context(), "billing"); errors.Is(err, tenure.ErrPermanent) {
		t.Errorf("Load with a plan from before a migration: %v", err)
	}
	storetest.Eventually(t, "the statements are prepared anew", func() bool {
		_, err := s.Load(t.Context(), "billing")
		return err == nil
	})
	storetest.Swap(t, s, "billing", current.Version, held(2))
}

// Behind a pooler the next server's connection knows nothing of what was prepared on the last.
func TestPreparedStatementsLost(t *testing.T) {
	s := openStore(t, server(t)+"&pool_max_conns=1")
	first := storetest.Swap(t, s, "billing", "", held(1))
	second := storetest.Swap(t, s, "billing", first.Version, held(2))
	storetest.Load(t, s, "billing")
	exec(t, s.pool, "DEALLOCATE ALL", pgx.QueryExecModeSimpleProtocol)
	storetest.Swap(t, s, "billing", second.Version, held(3)) // at the first try
	storetest.Load(t, s, "billing")
	if !s.unprepared.Load() {
		t.Error("the store goes on preparing statements")
	}
}
