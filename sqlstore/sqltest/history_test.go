package sqltest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
)

// history is what candidates of one election have done, by the one monotonic clock of the process.
type history struct {
	testing.TB
	start time.Time

	mu    sync.Mutex
	terms []stint
}

// stint is the time for which a leader worked under a term.
type stint struct {
	id       string
	token    uint64
	from, to time.Duration // to is 0 while it goes on
}

func (s stint) String() string {
	return fmt.Sprintf("%s under %d: %v to %v", s.id, s.token, s.from, s.to)
}

// ttl is short, so that a test takes little time, and long enough for a busy machine.
const ttl = 1500 * time.Millisecond

// stand runs a candidate until the test ends.
func (h *history) stand(id string, store tenure.Store) {
	h.Helper()
	candidate, err := tenure.New(store, "billing", tenure.WithID(id), tenure.WithTTL(ttl))
	if err != nil {
		h.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- candidate.Run(ctx, h.lead) }()
	h.Cleanup(func() {
		cancel()
		if err := <-done; err != nil && ctx.Err() == nil {
			h.Errorf("%s: %v", id, err)
		}
	})
}

// lead is the work of a leader.
func (h *history) lead(ctx context.Context, term tenure.Term) error {
	h.mu.Lock()
	h.terms = append(h.terms, stint{id: term.Leader, token: term.Token, from: time.Since(h.start)})
	mine := len(h.terms) - 1
	h.mu.Unlock()
	<-ctx.Done()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.terms[mine].to = time.Since(h.start)
	return nil
}

// leader returns the latest stint that goes on.
func (h *history) leader() (stint, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := len(h.terms) - 1; i >= 0; i-- {
		if h.terms[i].to == 0 {
			return h.terms[i], true
		}
	}
	return stint{}, false
}

// await waits until somebody leads under a token above the given one, and returns the stint.
func (h *history) await(above uint64) (leader stint) {
	h.Helper()
	h.eventually(fmt.Sprintf("somebody leads with a token above %d", above), func() (ok bool) {
		leader, ok = h.leader()
		return ok && leader.token > above
	})
	return leader
}

func (h *history) eventually(what string, holds func() bool) {
	h.Helper()
	for deadline := time.Now().Add(patience); !holds(); {
		if time.Now().After(deadline) {
			h.Fatalf("after %v it was not so that %s; terms: %v", patience, what, h.terms)
		}
		time.Sleep(5 * time.Millisecond) // real servers and candidates take real time
	}
}

// check fails the test if two leaders worked at once, or a token did not rise.
func (h *history) check() {
	h.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := 1; i < len(h.terms); i++ {
		before, after := h.terms[i-1], h.terms[i]
		if before.to == 0 || after.from < before.to {
			h.Errorf("two led at once: %v; %v", before, after)
		}
		if after.token <= before.token {
			h.Errorf("the token did not rise: %v; %v", before, after)
		}
	}
}

func newHistory(tb testing.TB) *history { return &history{TB: tb, start: time.Now()} }
