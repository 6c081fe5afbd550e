package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/storetest"
)

// crew is some candidates of one election that do leader work, whose terms are recorded.
type crew struct {
	t          testing.TB
	candidates []*tenure.Candidate

	mu    sync.Mutex
	stays []*stay
}

// stay is one term as its leader saw it: from the first to the last moment at which it was certainly trusted.
type stay struct {
	who         int
	token       uint64
	first, last time.Time
	remaining   time.Duration // of the lease at the last moment
	cause       error         // nil while it lasts
}

// longTTL is that of terms which have to end by something else than the clock.
const longTTL = 10 * time.Minute

// lease are the options of candidates with a TTL. Their drain passes before every release, since the tests ask who leads.
func lease(ttl time.Duration) []tenure.Option {
	return []tenure.Option{tenure.WithTTL(ttl), tenure.WithDrain(min(ttl/50, 100*time.Millisecond))}
}

// steady are the options of candidates whose terms no pause of a busy machine ends, and which renew often all the same.
func steady() []tenure.Option {
	return append(lease(longTTL), tenure.WithRenewInterval(200*time.Millisecond))
}

func newCrew(t testing.TB, options []tenure.Option, stores ...tenure.Store) *crew {
	t.Helper()
	m := &crew{t: t}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		running.Wait()
		m.check()
	})
	for i, s := range stores {
		c, err := tenure.New(s, "billing", append(slices.Clone(options), tenure.WithID(string(rune('a'+i))))...)
		must(t, err)
		m.candidates = append(m.candidates, c)
		running.Go(func() {
			for ctx.Err() == nil { // permanent errors too are to be survived here, once their cause is repaired
				err := c.Run(ctx, func(ctx context.Context, term tenure.Term) error { return m.work(ctx, i, term) })
				if err != nil && !errors.Is(err, tenure.ErrPermanent) && !errors.Is(err, context.Canceled) {
					t.Errorf("candidate %d: %v", i, err)
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
		if i == 0 {
			m.leader()
		}
	}
	return m
}

// work is the leader's. The clock is read before it is asked for trust, so that no interval is longer than the trust was.
func (m *crew) work(ctx context.Context, who int, term tenure.Term) error {
	s := &stay{who: who, token: term.Token}
	m.mu.Lock()
	m.stays = append(m.stays, s)
	m.mu.Unlock()
	for ctx.Err() == nil {
		m.trusts(s, term)
		time.Sleep(time.Millisecond) // an interval is as exact as this
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s.cause = context.Cause(ctx)
	return nil
}

func (m *crew) trusts(s *stay, term tenure.Term) {
	now := time.Now()
	left := term.Remaining()
	if left == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.first.IsZero() {
		s.first = time.Now()
	}
	s.last, s.remaining = now, left
}

// check looks for two leaders at once, and for tokens that were used twice.
func (m *crew) check() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, s := range m.stays {
		for _, other := range m.stays[i+1:] {
			if s.token == other.token {
				m.t.Errorf("two terms bear the token %d", s.token)
			}
			if !s.first.IsZero() && !other.first.IsZero() && s.who != other.who &&
				s.first.Before(other.last) && other.first.Before(s.last) {
				m.t.Errorf("candidates %d and %d led at once, in the terms %d and %d", s.who, other.who, s.token, other.token)
			}
		}
	}
}

// leader waits for a leader and returns who it is, and the term.
func (m *crew) leader() (who int, token uint64) {
	m.t.Helper()
	return m.after(0)
}

// after waits for a leader who works in a term above the token.
func (m *crew) after(token uint64) (who int, now uint64) {
	m.t.Helper()
	storetest.Eventually(m.t, fmt.Sprintf("somebody leads after term %d", token), func() bool {
		for i, c := range m.candidates {
			if term, ok := c.Term(); ok && term.Token > token && m.works(term.Token) {
				who, now = i, term.Token
				return true
			}
		}
		return false
	})
	return who, now
}

// works reports whether the work of a term has begun: a term that ends before says nothing about how.
func (m *crew) works(token uint64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.stays, func(s *stay) bool { return s.token == token && !s.first.IsZero() })
}

// ended waits for the end of a term and returns what is recorded of it.
func (m *crew) ended(token uint64) (ended stay) {
	m.t.Helper()
	storetest.Eventually(m.t, fmt.Sprintf("term %d ends", token), func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, s := range m.stays {
			if s.token == token && s.cause != nil {
				ended = *s
				return true
			}
		}
		return false
	})
	return ended
}

// revoked checks that a term was ended for the loss of its lock, and not by the clock.
func (m *crew) revoked(token uint64) {
	m.t.Helper()
	if s := m.ended(token); !errors.Is(s.cause, tenure.ErrRevoked) || s.remaining == 0 {
		m.t.Errorf("term %d ended with %v, and %v left of its lease; want %v", token, s.cause, s.remaining, tenure.ErrRevoked)
	}
}

// keeps checks that the term lasts for that long: nothing tells that it will not be lost.
func (m *crew) keeps(who int, token uint64, d time.Duration) {
	m.t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if term, leads := m.candidates[who].Term(); !leads || term.Token != token {
			m.t.Fatalf("candidate %d lost term %d: %+v", who, token, m.candidates[who].Status())
		}
	}
}

// held returns who has the lock of an election, by what the server says.
func lockHolders(t testing.TB, a *Advisory, pool *pgxpool.Pool, election string) []holder {
	t.Helper()
	all, err := holders(context.Background(), pool, a.LockID(election))
	must(t, err)
	return all
}

// backendOfLeader returns the server's process that holds the lock.
func backendOfLeader(t testing.TB, a *Advisory, pool *pgxpool.Pool) int {
	t.Helper()
	all := lockHolders(t, a, pool, "billing")
	if len(all) != 1 {
		t.Fatalf("the lock has the holders %v, want one", all)
	}
	return all[0].pid
}

// seldom has the lock validated so rarely that whatever a test sees was noticed otherwise.
func seldom() Option { return WithValidation(maxValidation, maxValidation) }
