package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
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

// torn is an object on a server that answers the first look after a write with the new entity tag and the metadata of
// the write before, as VersityGW does now and then.
type torn struct {
	content string
	token   string // of the latest write
	stale   string // what the next look is told of it, if anything
}

func (o *torn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodHead:
		token := o.token
		if o.stale != "" {
			token, o.stale = o.stale, ""
		}
		w.Header().Set("X-Amz-Meta-"+fence.TokenKey, token)
		w.Header().Set("X-Amz-Meta-"+fence.ElectionKey, "e")
		w.Header().Set("ETag", tag(o.content))
	case r.Header.Get("If-Match") != tag(o.content):
		refuse(w, http.StatusPreconditionFailed, "PreconditionFailed")
	default:
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		o.stale, o.content, o.token = o.token, string(body), r.Header.Get("X-Amz-Meta-"+fence.TokenKey)
	}
}

func TestMetadataOfAnOlderWriteLetsNobodyThrough(t *testing.T) {
	object := &torn{content: "by term 4", token: "4"}
	server := httptest.NewServer(object)
	defer server.Close()
	objects := Objects{client(&testserver.VersityGW{AccessKey: "key", SecretKey: "secret"}, server.URL), "bucket"}
	put := func(token uint64) error {
		return fence.Put(t.Context(), objects, "x", fmt.Append(nil, "by term ", token), nil, "e", token)
	}
	if err := put(6); err != nil {
		t.Fatal(err)
	}
	if err := put(5); !errors.Is(err, fence.ErrStale) || object.content != "by term 6" {
		t.Errorf("the deposed leader of term 5: %v, and the object is %q", err, object.content)
	}
}
