package natskv

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testserver"
)

// Whoever found no record before one came, rose and was pruned, cannot create one under the tokens that it had.
func TestLateCreationIsAConflict(t *testing.T) {
	server := testserver.StartNATS(t)
	s := openStore(t, server.Addr, "elections")
	expected, err := s.vacancy(t.Context(), "billing", storetest.Held(1, "late")) // and then it sleeps
	if err != nil {
		t.Fatal(err)
	}
	created := storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
	storetest.Swap(t, s, "billing", created.Version, vacant(20))
	storetest.Prune(t, s, "billing")
	text, err := storetest.Held(1, "late").MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.publish(t.Context(), "billing", nil, text, expected); !errors.Is(err, tenure.ErrConflict) {
		t.Errorf("the late creation returned %v, want a conflict", err)
	}
	if got := storetest.Load(t, s, "billing"); got.Exists() || got.Record.Token != 20 {
		t.Errorf("the record is %+v, want none, and the floor 20", got)
	}
}

// The marker itself tells above which token a record starts, should the floor be read from a server that lags.
func TestMarkerKeepsTheToken(t *testing.T) {
	server := testserver.StartNATS(t)
	s := openStore(t, server.Addr, "elections")
	created := storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
	storetest.Swap(t, s, "billing", created.Version, vacant(20))
	storetest.Prune(t, s, "billing")
	removeKey(t, s, floorKey)
	if _, err := s.CompareAndSwap(t.Context(), "billing", "", storetest.Held(20, "b")); !errors.Is(err, tenure.ErrConflict) {
		t.Errorf("creating a record at the token of the pruned one returned %v, want a conflict", err)
	}
	if got := storetest.Load(t, s, "billing"); got.Record.Token != 20 {
		t.Errorf("the floor is %d, want 20", got.Record.Token)
	}
	storetest.Swap(t, s, "billing", "", storetest.Held(21, "b"))
}

// removeKey removes a key and leaves no marker, as nobody but an operator does.
func removeKey(t *testing.T, s *Store, key string) {
	t.Helper()
	stream, err := s.js.Stream(t.Context(), s.stream())
	if err == nil {
		err = stream.Purge(t.Context(), jetstream.WithPurgeSubject(s.subject(key)))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The floor outlives the markers, which "nats kv compact" removes.
func TestFloorOutlivesMarkers(t *testing.T) {
	server := testserver.StartNATS(t)
	s := openStore(t, server.Addr, "elections")
	created := storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
	storetest.Swap(t, s, "billing", created.Version, vacant(20))
	storetest.Prune(t, s, "billing")
	if err := keyValue(t, s).PurgeDeletes(t.Context(), jetstream.DeleteMarkersOlderThan(-1)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CompareAndSwap(t.Context(), "billing", "", storetest.Held(20, "b")); !errors.Is(err, tenure.ErrConflict) {
		t.Errorf("creating a record under the floor returned %v, want a conflict", err)
	}
}

// A record that was taken again between Prune's look and its deletion stays.
func TestPruneSparesWhatIsInUseAgain(t *testing.T) {
	server := testserver.StartNATS(t)
	s := openStore(t, server.Addr, "elections")
	created := storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
	storetest.Swap(t, s, "billing", created.Version, vacant(1))
	idle, err := s.idle(t.Context(), 0)
	if err != nil || len(idle) != 1 {
		t.Fatalf("idle are %v, %v", idle, err)
	}
	taken := storetest.Swap(t, s, "billing", storetest.Load(t, s, "billing").Version, storetest.Held(2, "b"))
	if names, err := s.purgeAll(t.Context(), idle); err != nil || len(names) > 0 {
		t.Errorf("purged were %q, %v, want none", names, err)
	}
	if got := storetest.Load(t, s, "billing"); got.Version != taken.Version {
		t.Errorf("the record is %+v, want the new leader's", got)
	}
}

func TestPruneLeavesNothingButASmallMarker(t *testing.T) {
	server := testserver.StartNATS(t)
	s := openStore(t, server.Addr, "elections")
	created := storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
	record := vacant(1)
	record.Metadata = map[string]string{"note": string(make([]byte, 1000))}
	storetest.Swap(t, s, "billing", created.Version, record)
	storetest.Prune(t, s, "billing")
	info, err := s.info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if info.State.Msgs != 2 || info.State.Bytes > 500 { // the marker and the floor
		t.Errorf("%d messages with %d bytes are left", info.State.Msgs, info.State.Bytes)
	}
}

// The ages of records are told by the server's clock, to which this process's has no relation.
func TestPruneByAge(t *testing.T) {
	server := testserver.StartNATS(t)
	s := openStore(t, server.Addr, "elections")
	storetest.Swap(t, s, "billing", "", vacant(1))
	if idle, err := s.idle(t.Context(), time.Minute); err != nil || len(idle) > 0 {
		t.Errorf("idle for a minute are %v, %v", idle, err)
	}
	storetest.Eventually(t, "the record is some milliseconds old", func() bool {
		idle, err := s.idle(t.Context(), 20*time.Millisecond)
		return err == nil && len(idle) == 1
	})
}
