package sqlstore_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

// polled is a store that pushes nothing, as this package's, and counts calls. Each call of ours is one statement.
type polled struct {
	store *memory.Store
	calls atomic.Int64
}

func (p *polled) Load(ctx context.Context, election string) (tenure.Snapshot, error) {
	p.calls.Add(1)
	return p.store.Load(ctx, election)
}

func (p *polled) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (tenure.Snapshot, error) {
	p.calls.Add(1)
	return p.store.CompareAndSwap(ctx, election, old, record)
}

// The numbers in README.md, of statements a minute with the default TTL.
func TestLoadPerCandidate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New()
		leading, standing := &polled{store: store}, &polled{store: store}
		for _, p := range []*polled{leading, standing} {
			c, err := tenure.New(p, "billing")
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Stop(context.Background()) })
			time.Sleep(5 * time.Second) // the first one is elected before the second one stands
		}
		leading.calls.Store(0)
		standing.calls.Store(0)
		time.Sleep(10 * time.Minute)
		for who, test := range map[string]struct {
			got         int64
			least, most int64
		}{
			"leader":             {leading.calls.Load() / 10, 18, 20},
			"standing candidate": {standing.calls.Load() / 10, 30, 34},
		} {
			t.Logf("a %s sends %d statements a minute", who, test.got)
			if test.got < test.least || test.got > test.most {
				t.Errorf("a %s sends %d statements a minute, want %d to %d", who, test.got, test.least, test.most)
			}
		}
	})
}
