package objectstore

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/tenuretest"
)

func TestConformance(t *testing.T) {
	shared := newStorage()
	open := func(*testing.T) tenure.Store { return New("test", shared, "p/") }
	remove := func(_ *testing.T, election string) {
		shared.mu.Lock()
		defer shared.mu.Unlock()
		delete(shared.objects, "p/"+recordKey(election))
	}
	tenuretest.Run(t, open, tenuretest.WithSecond(open), tenuretest.WithDelete(remove))
}

func held(token uint64) tenure.Record {
	return tenure.Record{Token: token, Leader: "a", Session: "s", TTL: 1e9}
}

func mustSwap(t *testing.T, s *Store, election string, old tenure.Version, record tenure.Record) tenure.Snapshot {
	t.Helper()
	snapshot, err := s.CompareAndSwap(t.Context(), election, old, record)
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}

// A storage that ignores a condition is refused before anything is written to an election.
func TestIgnoringStorageIsRefused(t *testing.T) {
	for name, client := range map[string]*storage{
		"If-Match": {ignoresIfMatch: true}, "If-None-Match": {ignoresIfNoneMatch: true},
	} {
		fresh := newStorage()
		client.objects, client.written = fresh.objects, fresh.written
		for range 2 { // the second finds what the first has left
			s := New("test", client, "")
			for range 2 {
				_, err := s.CompareAndSwap(t.Context(), "e", "", held(1))
				if !errors.Is(err, tenure.ErrPermanent) || !strings.Contains(err.Error(), name) {
					t.Errorf("ignoring %s: %v", name, err)
				}
			}
			if got, err := s.Load(t.Context(), "e"); err != nil || got.Exists() {
				t.Errorf("ignoring %s: loaded %+v, %v", name, got, err)
			}
		}
	}
}

// A storage that honours conditions is tried once, and what the trial writes is one object.
func TestTrialIsMadeOnce(t *testing.T) {
	client := newStorage()
	trials := 0
	client.before = func(op, key string) error {
		if op == "put" && strings.HasPrefix(key, "probe") {
			trials++
		}
		return nil
	}
	s := New("test", client, "")
	first := mustSwap(t, s, "e", "", held(1))
	mustSwap(t, s, "e", first.Version, held(2))
	if trials != 4 || client.puts != 3 {
		t.Errorf("%d trials, %d objects written", trials, client.puts)
	}
	trials = 0
	mustSwap(t, New("test", client, ""), "f", "", held(1))
	if trials != 3 || client.puts != 4 {
		t.Errorf("with the object there: %d trials, %d objects written", trials, client.puts)
	}
}

// A trial that fails says nothing: it is made again.
func TestFailedTrialIsRepeated(t *testing.T) {
	client, lost := newStorage(), errors.New("lost")
	client.before = func(string, string) error { return lost }
	s := New("test", client, "")
	_, err := s.CompareAndSwap(t.Context(), "e", "", held(1))
	if !errors.Is(err, tenure.ErrNotApplied) || !errors.Is(err, lost) {
		t.Errorf("the error is %v", err)
	}
	client.before = nil
	mustSwap(t, s, "e", "", held(1))
}

// The floor is raised while a new record is on its way, which then stands under it.
func TestFloorRisesDuringACreation(t *testing.T) {
	client := newStorage()
	s, other := New("test", client, ""), New("test", client, "")
	client.before = func(op, key string) error {
		if op == "put" && key == recordKey("e") {
			client.before = nil
			if err := other.raiseFloor(t.Context(), 5); err != nil {
				t.Error(err)
			}
		}
		return nil
	}
	if _, err := s.CompareAndSwap(t.Context(), "e", "", held(5)); !errors.Is(err, tenure.ErrConflict) {
		t.Errorf("the error is %v", err)
	}
	if got, err := s.Load(t.Context(), "e"); err != nil || got.Exists() || got.Record.Token != 5 {
		t.Errorf("loaded %+v, %v", got, err)
	}
	mustSwap(t, s, "e", "", held(6))
}

// Once the record may be written, no error may say that it is not.
func TestUnknownFloorAfterACreation(t *testing.T) {
	for _, failure := range []error{errors.New("lost"), tenure.NotApplied(errors.New("throttled"), 0)} {
		client := newStorage()
		s := New("test", client, "")
		written := false
		client.before = func(op, key string) error {
			written = written || op == "put" && key == recordKey("e")
			if written && key == floorKey {
				return failure
			}
			return nil
		}
		_, err := s.CompareAndSwap(t.Context(), "e", "", held(5))
		for _, certain := range []error{nil, tenure.ErrConflict, tenure.ErrNotApplied, tenure.ErrPermanent} {
			if errors.Is(err, certain) {
				t.Errorf("%v was returned as %v", failure, err)
			}
		}
	}
}

// Without conditional deletion a record that came to life again could be deleted; it is emptied by a conditional write
// instead.
func TestPruneWithoutConditionalDeletion(t *testing.T) {
	client := newStorage()
	client.ignoresDeleteCondition = true
	s := New("test", client, "")
	mustSwap(t, s, "idle", "", tenure.Record{Token: 7, TTL: 1e9})
	mustSwap(t, s, "held", "", held(3))
	names, err := s.Prune(t.Context(), 0)
	if err != nil || !slices.Equal(names, []string{"idle"}) {
		t.Fatalf("pruned %q, %v", names, err)
	}
	got, err := s.Load(t.Context(), "idle")
	if err != nil || !got.Record.Forgotten || got.Record.Token != 7 {
		t.Errorf("loaded %+v, %v", got, err)
	}
	if names, err := s.Prune(t.Context(), 0); err != nil || len(names) != 0 {
		t.Errorf("pruned again: %q, %v", names, err)
	}
}

// What changes between the look and the deletion stays.
func TestPruneKeepsWhatIsInUseAfterAll(t *testing.T) {
	client := newStorage()
	s := New("test", client, "")
	vacant := mustSwap(t, s, "e", "", tenure.Record{Token: 7})
	client.before = func(op, key string) error {
		if op == "delete" && key == recordKey("e") {
			client.before = nil
			mustSwap(t, s, "e", vacant.Version, held(8))
		}
		return nil
	}
	if names, err := s.Prune(t.Context(), 0); err != nil || len(names) != 0 {
		t.Errorf("pruned %q, %v", names, err)
	}
	if got, err := s.Load(t.Context(), "e"); err != nil || got.Record.Token != 8 {
		t.Errorf("loaded %+v, %v", got, err)
	}
}

// Foreign objects are named, and never overwritten by a creation.
func TestForeignObjects(t *testing.T) {
	for name, body := range map[string]string{
		"text": "hello", "empty": "", "json": `{"a":1}`, "newer": `{"tenure_object":2}`,
		"bare": `{"tenure_object":1,"election":"bare"}`, "record": `{"tenure_object":1,"election":"record","record":{"token":1}}`,
		"another's": `{"tenure_object":1,"election":"e","record":{"tenure":1,"token":1}}`,
	} {
		client := newStorage()
		key := "p/" + recordKey(name)
		client.objects[key] = Object{[]byte(body), "tag"}
		_, err := New("test", client, "p/").Load(t.Context(), name)
		if !errors.Is(err, tenure.ErrPermanent) || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Objects of others below the prefix are no elections.
func TestListOfForeignKeys(t *testing.T) {
	client := newStorage()
	s := New("test", client, "p/")
	mustSwap(t, s, "a b", "", held(1))
	for _, key := range []string{
		"p/elections/", "p/elections/.json", "p/elections/x.txt", "p/elections/a b.json", "p/elections/~zz.json",
		"p/elections/~2", "p/elections/~2.json", "p/elections/~2F.json", "p/elections/a/b.json", "p/elections/~61.json",
	} {
		client.objects[key] = Object{}
	}
	if names, err := s.List(t.Context()); err != nil || !slices.Equal(names, []string{"a b"}) {
		t.Errorf("listed %q, %v", names, err)
	}
}

func TestKeysAreReversible(t *testing.T) {
	for _, name := range []string{
		"a", "A", "a-b_c", "a.b", "..", "a/b", "~", "~2e", "選挙", strings.Repeat("x", 120), strings.Repeat("x", 121),
		strings.Repeat("/", 255), strings.Repeat("x", 255),
	} {
		key := recordKey(name)
		if got, ok := electionOf(key); !ok || got != name {
			t.Errorf("%q has the key %q, which is that of %q", name, key, got)
		}
		for segment := range strings.SplitSeq(key, "/") {
			if len(segment) > 255 || segment == "." || segment == ".." || segment == "" {
				t.Errorf("%q has the key %q", name, key)
			}
		}
	}
}

func TestClosed(t *testing.T) {
	s := New("test", newStorage(), "")
	if !s.Close() || s.Close() {
		t.Error("the first Close ends the store, and only that")
	}
	_, loading := s.Load(context.Background(), "e")
	_, swapping := s.CompareAndSwap(context.Background(), "e", "", held(1))
	_, listing := s.List(context.Background())
	_, pruning := s.Prune(context.Background(), 0)
	for _, err := range []error{loading, swapping, listing, pruning} {
		if !errors.Is(err, tenure.ErrPermanent) {
			t.Errorf("a closed store: %v", err)
		}
	}
}
