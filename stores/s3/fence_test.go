package s3

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tenure-go/tenure/fence"
	"github.com/tenure-go/tenure/internal/objectstore/objecttest"
	"github.com/tenure-go/tenure/internal/testserver"
)

func TestFence(t *testing.T) {
	server := testserver.StartVersityGW(t)
	objects := Objects{client(server, "http://"+server.Addr), server.Bucket}
	objecttest.Fence(t, objects)

	put := func(token uint64) error {
		return fence.Put(t.Context(), objects, "constant", []byte("always the same"), nil, "e", token)
	}
	if err := put(1); err != nil {
		t.Fatal(err)
	}
	if err := put(2); !errors.Is(err, errSameContent) {
		t.Errorf("a write that changes nothing but the mark: %v, want that it is refused", err)
	}

	objects.Bucket = "missing"
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := fence.Put(ctx, objects, "x", nil, nil, "e", 1)
	if err == nil || errors.Is(err, fence.ErrChanged) || ctx.Err() != nil {
		t.Errorf("in a bucket that is missing: %v, want that it is told at once", err)
	}
}
