package objecttest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/tenure-go/tenure/fence"
)

// Fence checks that fence.Put keeps deposed leaders from writing through objects.
func Fence(t TB, objects fence.Objects) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	put := func(content string, token uint64) error {
		return fence.Put(ctx, objects, "report", []byte(content), map[string]string{"kind": "daily"}, "e", token)
	}
	for i, token := range []uint64{3, 3, 5} {
		if err := put(fmt.Sprint("content ", i), token); err != nil {
			t.Fatalf("the leader of term %d: %v", token, err)
		}
	}
	var stale *fence.StaleError
	if err := put("stale", 4); !errors.As(err, &stale) || stale.Mark != 5 {
		t.Errorf("the deposed leader of term 4: %v, want a StaleError with the mark 5", err)
	}
	metadata, version, err := objects.Head(ctx, "report")
	election, token, readErr := fence.ReadMark(metadata)
	if err != nil || readErr != nil || version == "" || election != "e" || token != 5 {
		t.Errorf("the object has the mark %d of %q, version %q: %v, %v", token, election, version, err, readErr)
	}
	late(ctx, t, objects, metadata, version)
	race(ctx, t, objects)
}

// late has a leader be deposed between its look and its write.
func late(ctx context.Context, t TB, objects fence.Objects, metadata map[string]string, version string) {
	t.Helper()
	stamped, err := fence.Stamp(metadata, nil, "e", 5)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if err := fence.Put(ctx, objects, "report", []byte("next"), nil, "e", 6); err != nil {
		t.Fatalf("%v", err)
	}
	if err := objects.Put(ctx, "report", []byte("late"), stamped, version); !errors.Is(err, fence.ErrChanged) {
		t.Errorf("the write of a leader that looked before it was deposed: %v, want ErrChanged", err)
	}
	if err := objects.Put(ctx, "report", []byte("late"), stamped, ""); !errors.Is(err, fence.ErrChanged) {
		t.Errorf("the creation of an object that is there: %v, want ErrChanged", err)
	}
}

// race has the leaders of several terms write at once: the highest token stays, whoever comes last.
func race(ctx context.Context, t TB, objects fence.Objects) {
	t.Helper()
	const terms = 6
	var all sync.WaitGroup
	for token := range uint64(terms) {
		all.Go(func() {
			content := []byte("by term " + strconv.FormatUint(token+1, 10))
			err := fence.Put(ctx, objects, "contested", content, nil, "e", token+1)
			if err != nil && !errors.Is(err, fence.ErrStale) {
				t.Errorf("term %d: %v", token+1, err)
			}
		})
	}
	all.Wait()
	metadata, _, err := objects.Head(ctx, "contested")
	if err != nil {
		t.Fatalf("%v", err)
	}
	if _, token, err := fence.ReadMark(metadata); err != nil || token != terms {
		t.Errorf("the mark is %d, %v; want %d", token, err, terms)
	}
}
