package fence_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/fence"
)

// bucket is an object store with generations, that returns metadata in the letter case of headers as some do.
type bucket struct {
	mu      sync.Mutex
	objects map[string]object
	before  func() // runs between a look and the next write
}

type object struct {
	content    []byte
	metadata   map[string]string
	generation int
}

func (b *bucket) Head(_ context.Context, name string) (map[string]string, string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	found, there := b.objects[name]
	if !there {
		return nil, "", nil
	}
	return maps.Clone(found.metadata), fmt.Sprint(found.generation), nil
}

func (b *bucket) Put(_ context.Context, name string, content []byte, metadata map[string]string, version string) error {
	if before := b.before; before != nil {
		b.before = nil
		before()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	found, there := b.objects[name]
	if there != (version != "") || there && version != fmt.Sprint(found.generation) {
		return fence.ErrChanged
	}
	headers := map[string]string{}
	for key, value := range metadata {
		headers[strings.ToUpper(key[:1])+key[1:]] = value
	}
	b.objects[name] = object{bytes.Clone(content), headers, found.generation + 1}
	return nil
}

func newBucket() *bucket { return &bucket{objects: map[string]object{}} }

func (b *bucket) write(t *testing.T, token uint64) error {
	t.Helper()
	return fence.Put(t.Context(), b, "report", fmt.Append(nil, token), map[string]string{"by": "us"}, "bïlling &c", token)
}

func TestPutRefusesAnOlderTerm(t *testing.T) {
	b := newBucket()
	for _, token := range []uint64{3, 3, 5} {
		if err := b.write(t, token); err != nil {
			t.Fatal(err)
		}
	}
	err := b.write(t, 4)
	var stale *fence.StaleError
	if !errors.Is(err, fence.ErrStale) || !errors.As(err, &stale) || stale.Token != 4 || stale.Mark != 5 {
		t.Errorf("the error is %v, want ErrStale with tokens 4 and 5", err)
	}
	found := b.objects["report"]
	if string(found.content) != "5" || found.metadata["By"] != "us" {
		t.Errorf("the object is %s with %v", found.content, found.metadata)
	}
	election, mark, err := fence.ReadMark(found.metadata)
	if election != "bïlling &c" || mark != 5 || err != nil {
		t.Errorf("the mark is %d of %q, %v", mark, election, err)
	}
}

func TestPutLooksAgainWhenOthersAreFaster(t *testing.T) {
	for name, test := range map[string]struct {
		first, other, late uint64
		want               error
	}{
		"a newer one":           {first: 3, other: 5, late: 4, want: fence.ErrStale},
		"an older one":          {first: 3, other: 4, late: 5},
		"a newer one, new":      {other: 5, late: 4, want: fence.ErrStale},
		"another write, as new": {other: 4, late: 4},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBucket()
			if test.first > 0 {
				if err := b.write(t, test.first); err != nil {
					t.Fatal(err)
				}
			}
			b.before = func() {
				if err := b.write(t, test.other); err != nil {
					t.Error(err)
				}
			}
			if err := b.write(t, test.late); !errors.Is(err, test.want) {
				t.Errorf("the error is %v, want %v", err, test.want)
			}
			if got, want := string(b.objects["report"].content), fmt.Sprint(max(test.other, test.late)); got != want {
				t.Errorf("the object holds %s, want %s", got, want)
			}
		})
	}
}

// contested is an object that others always change in between.
type contested struct{ *bucket }

func (c contested) Put(context.Context, string, []byte, map[string]string, string) error {
	return fence.ErrChanged
}

func TestPutEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := fence.Put(ctx, contested{newBucket()}, "x", nil, nil, "e", 1); !errors.Is(err, fence.ErrChanged) {
		t.Errorf("the error is %v, want ErrChanged", err)
	}
}

func TestStampRefuses(t *testing.T) {
	marked := map[string]string{"Tenuretoken": "7", "TenureElection": "a"}
	for name, test := range map[string]struct {
		present, metadata map[string]string
		election          string
		token             uint64
		config            bool
	}{
		"another election":      {present: marked, election: "b", token: 8, config: true},
		"token 0":               {election: "a", config: true},
		"a token too large":     {election: "a", token: tenure.MaxToken + 1, config: true},
		"no election":           {token: 1, config: true},
		"metadata of the guard": {metadata: map[string]string{"TENURETOKEN": "1"}, election: "a", token: 8, config: true},
		"a damaged token":       {present: map[string]string{"tenuretoken": "x", "tenureelection": "a"}, election: "a", token: 8},
		"a token alone":         {present: map[string]string{"tenuretoken": "7"}, election: "a", token: 8},
		"an election alone":     {present: map[string]string{"tenureelection": "a"}, election: "a", token: 8},
	} {
		_, err := fence.Stamp(test.present, test.metadata, test.election, test.token)
		if err == nil || errors.Is(err, tenure.ErrConfig) != test.config || errors.Is(err, fence.ErrStale) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

func TestStampLeavesTheCallersMetadata(t *testing.T) {
	mine := map[string]string{"by": "us"}
	stamped, err := fence.Stamp(nil, mine, "a", 1)
	if err != nil || len(mine) != 1 || stamped["by"] != "us" || stamped[fence.TokenKey] != "1" {
		t.Errorf("%v became %v, %v", mine, stamped, err)
	}
}
