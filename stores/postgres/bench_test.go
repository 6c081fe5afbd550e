package postgres

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tenure-go/tenure"
)

// BenchmarkWrite compares a renewal with the least that a server can do for a durable write: an update of one column of
// one row by its primary key. wal-B is what a write adds to the log, dead-tuples what each leaves behind in the end.
func BenchmarkWrite(b *testing.B) {
	b.Run("bare update", func(b *testing.B) {
		s := openStore(b, server(b))
		exec(b, s.pool, "CREATE TABLE bare (id text PRIMARY KEY, at timestamptz) WITH (fillfactor = 50)")
		exec(b, s.pool, "INSERT INTO bare VALUES ('billing', now())")
		measure(b, s, "bare", func(int) error {
			_, err := s.pool.Exec(b.Context(), "UPDATE bare SET at = clock_timestamp() WHERE id = $1", "billing")
			return err
		})
	})
	for name, options := range map[string][]Option{
		"renewal": nil, "renewal pushed": {WithPushedRenewals(true)},
	} {
		b.Run(name, func(b *testing.B) {
			s := openStore(b, server(b), options...)
			record := held(1)
			current := swap(b, s, "billing", "", record)
			measure(b, s, "tenure", func(i int) (err error) {
				record.Renewals++
				current, err = s.CompareAndSwap(b.Context(), "billing", current.Version, record)
				return err
			})
		})
	}
	b.Run("select 1", func(b *testing.B) {
		s := openStore(b, server(b))
		measure(b, s, "tenure", func(int) error {
			var one int
			return s.pool.QueryRow(b.Context(), "SELECT 1").Scan(&one)
		})
	})
}

// measure reports the time of work, and what it costs the server.
func measure(b *testing.B, s *Store, table string, work func(i int) error) {
	b.Helper()
	lsn := scalar[string](b, s.pool, "SELECT pg_current_wal_lsn()::text")
	b.ResetTimer()
	for i := range b.N {
		must(b, work(i))
	}
	b.StopTimer()
	wal := scalar[int](b, s.pool, "SELECT (pg_current_wal_lsn() - $1::pg_lsn)::int", lsn)
	b.ReportMetric(float64(wal)/float64(b.N), "wal-B/op")
	size := scalar[int](b, s.pool, "SELECT pg_relation_size($1::text::regclass)::int", table)
	b.ReportMetric(float64(size)/8192, "pages")
}

// BenchmarkHerd has many leaders renew at once, each its own election, as fast as the server lets them.
func BenchmarkHerd(b *testing.B) {
	for _, writers := range []int{1, 8, 32} {
		for name, options := range map[string][]Option{"polled": nil, "pushed": {WithPushedRenewals(true)}} {
			b.Run(fmt.Sprintf("%s/%d", name, writers), func(b *testing.B) {
				url := server(b) + "&pool_max_conns=" + strconv.Itoa(writers)
				s := openStore(b, url, options...)
				renewers := make([]*renewer, writers)
				for i := range renewers {
					renewers[i] = newRenewer(b, s, strconv.Itoa(i))
				}
				b.ResetTimer()
				var all sync.WaitGroup
				for i := range renewers {
					all.Go(func() {
						for range max(1, b.N/writers) {
							if err := renewers[i].renew(); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				all.Wait()
			})
		}
	}
}

type renewer struct {
	store    *Store
	election string
	current  tenure.Snapshot
}

func newRenewer(t testing.TB, s *Store, election string) *renewer {
	t.Helper()
	return &renewer{s, election, swap(t, s, election, "", held(1))}
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
	current := swap(b, writer, "billing", "", held(1))
	told := make(chan tenure.Version, 100)
	stop, err := s.Watch(b.Context(), "billing", func(snapshot tenure.Snapshot, _ error) { told <- snapshot.Version })
	must(b, err)
	defer stop()
	await(b, "notifications arrive", s.hub.hears)
	time.Sleep(100 * time.Millisecond) // the look that follows
	b.ResetTimer()
	for i := range b.N {
		current = swap(b, writer, "billing", current.Version, held(uint64(i)+2))
		for version := range told {
			if version == current.Version {
				break
			}
		}
	}
}
