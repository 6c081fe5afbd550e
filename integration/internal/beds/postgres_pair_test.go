//go:build linux

package beds

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/testserver"
	"github.com/tenure-go/tenure/stores/postgres"
)

// What a primary has acknowledged outlives it if its standby is a synchronous one, and only then.
func TestPostgresFailsOver(t *testing.T) {
	for bed, want := range map[*Bed]tenure.Grade{
		new(PostgresStandby()): tenure.GradeExclusive, new(PostgresReplica()): tenure.GradeUntilFailover,
	} {
		t.Run(bed.Name, func(t *testing.T) {
			t.Parallel()
			testserver.Find(t, "postgres")
			s, err := bed.Start(t)
			if err != nil {
				t.Fatal(err)
			}
			store, err := postgres.Open(t.Context(), s.URL(s.Addrs))
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			g, err := store.Guarantee(t.Context())
			if err != nil || g.Grade != want {
				t.Errorf("the grade is %v, %v; want %v", g, err, want)
			}
			w := newWriter(t, store)
			defer w.stop()
			for range deaths {
				told, err := s.ChangeLeader()
				if err != nil {
					t.Fatal(err)
				}
				lost := w.look()
				t.Logf("%s: %d acknowledged writes lost", told, lost)
				switch cut := strings.Contains(told, "cut off"); {
				case s.ChangeLoses && cut && lost == 0:
					t.Error("the standby was cut off, and nothing was lost")
				case lost > 0 && (!s.ChangeLoses || strings.Contains(told, "stopped")):
					t.Errorf("%s: %d acknowledged writes were lost", told, lost)
				}
			}
			oneTakesWrites(t, s)
		})
	}
}

// oneTakesWrites looks at each server by itself.
func oneTakesWrites(t *testing.T, s *Server) {
	t.Helper()
	primaries := 0
	for _, addr := range s.Addrs {
		read, err := askPostgres(&testserver.Postgres{Addr: addr}, "SHOW transaction_read_only")
		if err != nil {
			t.Fatal(err)
		}
		if read == "off" {
			primaries++
		}
	}
	if primaries != 1 {
		t.Errorf("%d servers take writes", primaries)
	}
}

// writer renews a record all the time.
type writer struct {
	store  tenure.Store
	stop   func()
	orders chan chan int
}

func newWriter(t *testing.T, store tenure.Store) *writer {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	w := &writer{store: store, orders: make(chan chan int), stop: func() { cancel(); <-done }}
	go func() {
		defer close(done)
		w.run(ctx)
	}()
	return w
}

// look returns how many acknowledged writes have been found missing since it was called last, once the store answers.
func (w *writer) look() int {
	answer := make(chan int)
	w.orders <- answer
	return <-answer
}

func (w *writer) run(ctx context.Context) {
	current, lost := tenure.Snapshot{}, 0
	for n := uint64(1); ctx.Err() == nil; n++ {
		record := tenure.Record{Token: 1, Leader: "a", Session: "s", TTL: time.Second, Renewals: n}
		call, cancel := context.WithTimeout(ctx, time.Second/2)
		next, err := w.store.CompareAndSwap(call, "writes", current.Version, record)
		cancel()
		if err != nil {
			next, err = w.store.Load(ctx, "writes")
			if err == nil && next.Record.Renewals < current.Record.Renewals {
				lost += int(current.Record.Renewals - next.Record.Renewals)
			}
		}
		if err != nil {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		current, n = next, next.Record.Renewals
		select {
		case answer := <-w.orders:
			answer <- lost
			lost = 0
		default:
		}
	}
}
