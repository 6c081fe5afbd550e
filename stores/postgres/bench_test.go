package postgres

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/storetest"
)

// BenchmarkWrite compares a renewal, not pushed and pushed, with the least that a server can do for a durable write: an
// update of one column of one row by its primary key. The three take turns, so that whatever else the machine does
// hits them alike. The metrics are the medians' ratios to the update, and what each adds to the write-ahead log.
func BenchmarkWrite(b *testing.B) {
	s := openStore(b, server(b))
	exec(b, s.pool, "CREATE TABLE bare (id text PRIMARY KEY, at timestamptz) WITH (fillfactor = 50)")
	exec(b, s.pool, "INSERT INTO bare VALUES ('billing', now())")
	polled, pushed := newRenewer(b, s, "polled"), newRenewer(b, newTestStore(b, s.pool, WithPushedRenewals(true)), "pushed")
	works := []func() error{
		func() error {
			_, err := s.pool.Exec(b.Context(), "UPDATE bare SET at = clock_timestamp() WHERE id = $1", "billing")
			return err
		},
		polled.renew, pushed.renew,
	}
	names := []string{"bare", "renewal", "pushed"}
	times, wal := make([][]time.Duration, len(works)), make([]int, len(works))
	position := func() string { return scalar[string](b, s.pool, "SELECT pg_current_wal_lsn()::text") }
	for b.Loop() {
		for i, work := range works {
			before, began := position(), time.Now()
			must(b, work())
			times[i] = append(times[i], time.Since(began))
			wal[i] += scalar[int](b, s.pool, "SELECT (pg_current_wal_lsn() - $1::pg_lsn)::int", before)
		}
	}
	for i, name := range names {
		b.ReportMetric(float64(median(times[i]))/float64(median(times[0])), name+"/bare")
		b.ReportMetric(float64(wal[i])/float64(len(times[i])), name+"-wal-B")
	}
	b.ReportMetric(scalar[float64](b, s.pool, "SELECT pg_relation_size('tenure') / 8192.0::float8"), "pages")
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// BenchmarkHerd has many leaders renew at once, each its own election, as fast as the server lets them: a round of
// renewals that are polled for, and one of pushed ones, in turn.
func BenchmarkHerd(b *testing.B) {
	for _, writers := range []int{1, 8, 32} {
		b.Run(strconv.Itoa(writers), func(b *testing.B) {
			url := server(b) + "&pool_max_conns=" + strconv.Itoa(writers)
			var rounds [2][]time.Duration
			stores := []*Store{openStore(b, url), openStore(b, url, WithPushedRenewals(true))}
			var renewers [2][]*renewer
			for i := range writers {
				for k, s := range stores {
					renewers[k] = append(renewers[k], newRenewer(b, s, fmt.Sprint(k, i)))
				}
			}
			for b.Loop() {
				for k := range stores {
					began := time.Now()
					renewAll(b, renewers[k], 10)
					rounds[k] = append(rounds[k], time.Since(began))
				}
			}
			b.ReportMetric(float64(median(rounds[1]))/float64(median(rounds[0])), "pushed/polled")
		})
	}
}

func renewAll(b *testing.B, renewers []*renewer, times int) {
	b.Helper()
	var all sync.WaitGroup
	for _, r := range renewers {
		all.Go(func() {
			for range times {
				if err := r.renew(); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
}

type renewer struct {
	store    *Store
	election string
	current  tenure.Snapshot
}

func newRenewer(t testing.TB, s *Store, election string) *renewer {
	t.Helper()
	return &renewer{s, election, storetest.Swap(t, s, election, "", held(1))}
}

func (r *renewer) renew() (err error) {
	record := r.current.Record
	record.Renewals++
	r.current, err = r.store.CompareAndSwap(context.Background(), r.election, r.current.Version, record)
	return err
}

// BenchmarkPoll looks at the marks of many elections, all of which were renewed.
func BenchmarkPoll(b *testing.B) {
	for _, elections := range []int{1, 100, 1000} {
		b.Run(strconv.Itoa(elections), func(b *testing.B) {
			s := openStore(b, server(b))
			exec(b, s.pool, `INSERT INTO tenure (election, token, leader, session, ttl)
SELECT 'e' || i, 1, 'node-a', '4f1d', '10 s' FROM generate_series(1, $1::int) AS i`, elections)
			exec(b, s.pool, "ANALYZE tenure")
			names := make([]string, elections)
			for i := range names {
				names[i] = fmt.Sprintf("e%d", i+1)
			}
			conn, err := pgx.Connect(b.Context(), s.pool.Config().ConnString())
			must(b, err)
			defer conn.Close(context.Background())
			b.ResetTimer()
			for range b.N {
				states, err := s.layout.loadMany(b.Context(), conn, names, make([]string, elections))
				must(b, err)
				if len(states) != elections {
					b.Fatalf("%d states", len(states))
				}
			}
		})
	}
}

// BenchmarkPush is the time from a change of leader to its delivery to a watch of another store.
func BenchmarkPush(b *testing.B) {
	url := server(b)
	writer, s := openStore(b, url), openStore(b, url)
	current := storetest.Swap(b, writer, "billing", "", held(1))
	told := make(chan tenure.Version, 100)
	stop, err := s.Watch(b.Context(), "billing", func(snapshot tenure.Snapshot, _ error) { told <- snapshot.Version })
	must(b, err)
	defer stop()
	storetest.Eventually(b, "notifications arrive", s.hub.hears)
	time.Sleep(100 * time.Millisecond) // the look that follows
	b.ResetTimer()
	for i := range b.N {
		current = storetest.Swap(b, writer, "billing", current.Version, held(uint64(i)+2))
		for version := range told {
			if version == current.Version {
				break
			}
		}
	}
}
