package natskv

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/fence"
	"github.com/tenure-go/tenure/internal/objectstore/objecttest"
	"github.com/tenure-go/tenure/internal/testserver"
)

// reports returns a bucket of another program's making.
func reports(t *testing.T) (Objects, jetstream.KeyValue) {
	t.Helper()
	js := connect(t, testserver.StartNATS(t).Addr)
	kv, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "reports"})
	if err != nil {
		t.Fatal(err)
	}
	return Objects{js, "reports"}, kv
}

func TestFence(t *testing.T) {
	objects, kv := reports(t)
	objecttest.Fence(t, objects)

	for round, token := range []uint64{1, 1, 2} { // content that is there already is a new version all the same
		if err := fence.Put(t.Context(), objects, "daily.eu", []byte("same"), nil, "e", token); err != nil {
			t.Fatal(err)
		}
		value, err := kv.Get(t.Context(), "daily.eu")
		if err != nil || string(value.Value()) != "same" || value.Revision() == 0 {
			t.Errorf("round %d: other clients read %q, %v", round, value, err)
		}
	}
}

// Whoever deletes a key takes the mark along, but nothing that was decided before passes the deletion by.
func TestFenceOverADeletedKey(t *testing.T) {
	objects, kv := reports(t)
	put := func(token uint64) error {
		return fence.Put(t.Context(), objects, "daily", []byte("text"), nil, "e", token)
	}
	if err := put(5); err != nil {
		t.Fatal(err)
	}
	metadata, version, err := objects.Head(t.Context(), "daily")
	if err != nil {
		t.Fatal(err)
	}
	if err := kv.Delete(t.Context(), "daily"); err != nil {
		t.Fatal(err)
	}
	if err := objects.Put(t.Context(), "daily", nil, metadata, version); !errors.Is(err, fence.ErrChanged) {
		t.Errorf("a write from before the deletion: %v, want ErrChanged", err)
	}
	if err := put(2); err != nil {
		t.Errorf("the first write after the deletion: %v", err)
	}
	if value, err := kv.Get(t.Context(), "daily"); err != nil || string(value.Value()) != "text" {
		t.Errorf("the key holds %v, %v", value, err)
	}
}

func TestFenceRefusesWhatItCannotWrite(t *testing.T) {
	objects, _ := reports(t)
	for _, name := range []string{"", ".", "a..b", "a.", "a*", "a.>", "a b", "ä"} {
		if err := fence.Put(t.Context(), objects, name, nil, nil, "e", 1); !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("the key %q: %v, want ErrConfig", name, err)
		}
		if err := objects.Put(t.Context(), name, nil, nil, ""); !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("writing the key %q: %v, want ErrConfig", name, err)
		}
	}
	for name, value := range map[string]string{
		"": "x", "KV-Operation": "DEL", "nats-rollup": "sub", "a:b": "x", "a b": "x", "kind": "a\r\nKV-Operation: DEL",
	} {
		err := fence.Put(t.Context(), objects, "daily", nil, map[string]string{name: value}, "e", 1)
		if !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("the metadata %q: %q: %v, want ErrConfig", name, value, err)
		}
	}
	if err := objects.Put(t.Context(), "daily", nil, nil, "latest"); !errors.Is(err, tenure.ErrConfig) {
		t.Errorf("a version that is none: %v, want ErrConfig", err)
	}

	// Somebody else's stream, which takes the messages that are for a bucket.
	config := jetstream.StreamConfig{Name: "other", Subjects: []string{"$KV.taken.>"}}
	if _, err := objects.JetStream.CreateStream(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	if err := (Objects{objects.JetStream, "taken"}).Put(t.Context(), "daily", nil, nil, ""); err == nil {
		t.Error("a value was written to a stream that is no bucket")
	}

	objects.Bucket = "missing"
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := fence.Put(ctx, objects, "daily", nil, nil, "e", 1)
	if err == nil || errors.Is(err, fence.ErrChanged) || ctx.Err() != nil {
		t.Errorf("in a bucket that is missing: %v, want that it is told at once", err)
	}
}
