package etcd

import (
	"errors"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/internal/testserver"
)

// Whoever found no record before one came, rose and was pruned, cannot create one under the tokens that it had.
func TestLateCreationIsAConflict(t *testing.T) {
	server := testserver.StartEtcd(t)
	s := openStore(t, server.Addr, "")
	expected, err := s.vacancy(t.Context(), "billing", storetest.Held(1, "late")) // and then it sleeps
	if err != nil {
		t.Fatal(err)
	}
	created := storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
	storetest.Swap(t, s, "billing", created.Version, vacant(20))
	storetest.Prune(t, s, "billing")
	_, err = s.write(t.Context(), expected, clientv3.OpPut(s.names.key("billing"), "late"))
	storetest.Want(t, storetest.Conflict, err)
	if got := storetest.Load(t, s, "billing"); got.Exists() || got.Record.Token != 20 {
		t.Errorf("the record is %+v, want none, and the floor 20", got)
	}
}

// A record that was taken again between Prune's look and its deletion stays, and the floor too.
func TestPruneSparesWhatIsInUseAgain(t *testing.T) {
	server := testserver.StartEtcd(t)
	s := openStore(t, server.Addr, "")
	created := storetest.Swap(t, s, "billing", "", storetest.Held(1, "a"))
	freed := storetest.Swap(t, s, "billing", created.Version, vacant(1))
	idle, err := s.idle(t.Context(), 0)
	if err != nil || len(idle) != 1 {
		t.Fatalf("idle are %v, %v", idle, err)
	}
	taken := storetest.Swap(t, s, "billing", freed.Version, storetest.Held(2, "b"))
	if err := s.delete(t.Context(), idle[0]); !errors.Is(err, errInUse) {
		t.Errorf("the deletion returned %v, want that it is in use", err)
	}
	if got := storetest.Load(t, s, "billing"); got.Version != taken.Version {
		t.Errorf("the record is %+v, want the new leader's", got)
	}
	if got := storetest.Load(t, s, "other"); got.Record.Token != 0 {
		t.Errorf("the floor is %d", got.Record.Token)
	}
}

// Two that prune at once raise the floor to the higher of their tokens, whoever is first.
func TestPrunesAtOnce(t *testing.T) {
	server := testserver.StartEtcd(t)
	s := openStore(t, server.Addr, "")
	for token := range uint64(20) {
		storetest.Swap(t, s, string(rune('a'+token)), "", vacant(token+1))
	}
	done := make(chan int, 2)
	for range 2 {
		go func() {
			pruned, err := s.Prune(t.Context(), 0)
			if err != nil {
				t.Error(err)
			}
			done <- len(pruned)
		}()
	}
	if all := <-done + <-done; all != 20 {
		t.Errorf("%d records were pruned, want 20", all)
	}
	if got := storetest.Load(t, s, "other"); got.Record.Token != 20 {
		t.Errorf("the floor is %d, want 20", got.Record.Token)
	}
}

// How long a record is unchanged is told by when it was written, not by when its leader says that it renewed.
func TestPruneByAge(t *testing.T) {
	server := testserver.StartEtcd(t)
	s := openStore(t, server.Addr, "")
	record := vacant(1)
	record.RenewedAt = time.Date(1999, time.January, 1, 0, 0, 0, 0, time.UTC)
	stored := storetest.Swap(t, s, "billing", "", record)
	if stored.Record.Extra != nil || storetest.Load(t, s, "billing").Record.Extra != nil {
		t.Error("callers see when it was written")
	}
	if idle, err := s.idle(t.Context(), time.Minute); err != nil || len(idle) > 0 {
		t.Errorf("idle for a minute are %v, %v", idle, err)
	}
	storetest.Eventually(t, "the record is some milliseconds old", func() bool {
		idle, err := s.idle(t.Context(), 20*time.Millisecond)
		return err == nil && len(idle) == 1
	})
	text, err := record.MarshalJSON() // by another program, which does not say when
	if err != nil {
		t.Fatal(err)
	}
	if _, err := connect(t, server.Addr).Put(t.Context(), s.names.key("billing"), string(text)); err != nil {
		t.Fatal(err)
	}
	if idle, err := s.idle(t.Context(), time.Nanosecond); err != nil || len(idle) > 0 {
		t.Errorf("idle without a time are %v, %v", idle, err)
	}
	storetest.Prune(t, s, "billing")
}
