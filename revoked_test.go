package tenure_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

// vouching is a store that stops vouching for a term when told. Every later delivery of that term says so.
type vouching struct {
	*memory.Store

	mu      sync.Mutex
	revoked uint64 // the term's token
	deliver func(tenure.Snapshot, error)
}

func (v *vouching) Watch(
	ctx context.Context, election string, deliver func(tenure.Snapshot, error),
) (func(), error) {
	v.mu.Lock()
	v.deliver = func(s tenure.Snapshot, err error) {
		s.Revoked = v.revoked != 0 && s.Record.Token == v.revoked
		deliver(s, err)
	}
	v.mu.Unlock()
	return v.Store.Watch(ctx, election, func(s tenure.Snapshot, err error) {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.deliver(s, err)
	})
}

// revoke pushes the current record as one for which the store no longer vouches.
func (v *vouching) revoke(t *testing.T) {
	t.Helper()
	s, err := v.Load(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.revoked = s.Record.Token
	v.deliver(s, nil)
}

func TestRevokedTermEndsAtOnceAndTheCandidateStandsAgain(t *testing.T) {
	bubble(t, func(t *testing.T, memory *memory.Store) {
		store := &vouching{Store: memory}
		c, _ := candidate(t, store, "a")
		terms := make(chan tenure.Term)
		causes := make(chan error, 2)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			done <- c.Run(ctx, func(ctx context.Context, term tenure.Term) error {
				terms <- term
				<-ctx.Done()
				causes <- context.Cause(ctx)
				return nil
			})
		}()
		first := <-terms
		began := time.Now()
		store.revoke(t)
		if cause := <-causes; !errors.Is(cause, tenure.ErrRevoked) || first.Valid() {
			t.Errorf("the term ended with %v, valid %v", cause, first.Valid())
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("the end took %v", took)
		}
		if second := <-terms; second.Token <= first.Token {
			t.Errorf("term %d follows term %d", second.Token, first.Token)
		}
		cancel()
		<-done
		synctest.Wait()
	})
}
