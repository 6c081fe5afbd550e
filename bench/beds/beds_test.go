package beds

import (
	"math"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/bench"
)

// Every bed's server does what the harness asks of it.
func TestBeds(t *testing.T) {
	for _, bed := range All() {
		t.Run(bed.Name, func(t *testing.T) {
			server, err := bed.Start(t)
			if err != nil {
				t.Fatal(err)
			}
			if server.Version() == "" {
				t.Error("the server has no version")
			}
			if err := server.Ping(t.Context()); err != nil {
				t.Error(err)
			}
			for value := range bench.BareValues {
				if err := server.Write(t.Context(), value); err != nil {
					t.Fatalf("bare value %d: %v", value, err)
				}
			}
			store := opened(t, bed, server)
			checkCounts(t, server, store)
		})
	}
}

// opened returns a store that was opened as another process would open it, and that has a record.
func opened(t *testing.T, bed bench.Bed, server bench.Server) bench.Store {
	t.Helper()
	here, err := server.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { here.Close() })
	record := tenure.Record{Token: 1, Leader: "a", Session: "s", TTL: time.Second, Renewals: 1}
	if _, err := here.CompareAndSwap(t.Context(), "election", "", record); err != nil {
		t.Fatal(err)
	}
	if bed.Open == nil {
		return here
	}
	there, err := bed.Open(t.Context(), server.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { there.Close() })
	if s, err := there.Load(t.Context(), "election"); err != nil || s.Record.Token != 1 {
		t.Errorf("at the address %s is the record %+v: %v", server.Address(), s.Record, err)
	}
	return there
}

// checkCounts checks that the server counts what a store sends.
func checkCounts(t *testing.T, server bench.Server, store bench.Store) {
	t.Helper()
	counter, ok := server.(bench.Counter)
	if !ok {
		return
	}
	if listener, ok := server.(bench.Listener); ok {
		stop, err := listener.Listen(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
	}
	const loads = 100
	toll, before := tollOf(t, counter), counts(t, counter)
	for range loads {
		if _, err := store.Load(t.Context(), "election"); err != nil {
			t.Fatal(err)
		}
	}
	since := counts(t, counter).Since(before)
	got := since[bench.Requests] - toll
	// Some servers answer a request before they count it.
	for looks := 2.0; got < loads && looks < 100; looks++ {
		time.Sleep(10 * time.Millisecond)
		since = counts(t, counter).Since(before)
		got = since[bench.Requests] - looks*toll
	}
	if got < loads || got > loads+10 {
		t.Errorf("%d loads were counted as %v requests", loads, got)
	}
	if connections, ok := since[bench.Connections]; ok && connections < 1 {
		t.Errorf("%v connections are open", connections)
	}
}

// tollOf is what counting itself costs: the least of some counts, since what was sent before may arrive during one.
func tollOf(t *testing.T, counter bench.Counter) float64 {
	t.Helper()
	toll := math.Inf(1)
	for range 5 {
		before := counts(t, counter)
		toll = min(toll, counts(t, counter).Since(before)[bench.Requests])
	}
	return toll
}

func counts(t *testing.T, counter bench.Counter) bench.Counts {
	t.Helper()
	counted, err := counter.Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return counted
}
