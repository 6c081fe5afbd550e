package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
)

// Real servers and real leases take real time: these are as short as a busy machine allows.
const (
	shortTTL = 3 * time.Second
	patience = 60 * time.Second
)

// team is some candidates of one election, which are watched for two leaders at once.
type team struct {
	t          testing.TB
	candidates []*tenure.Candidate
}

func newTeam(t testing.TB, stores ...tenure.Store) *team {
	t.Helper()
	m := &team{t: t}
	for i, s := range stores {
		c, err := tenure.New(s, "billing", tenure.WithID(string(rune('a'+i))), tenure.WithTTL(shortTTL))
		must(t, err)
		must(t, c.Start(context.Background()))
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			_ = c.Stop(ctx)
		})
		m.candidates = append(m.candidates, c)
		if i == 0 {
			m.await("the first candidate leads", c.IsLeader)
		}
	}
	ended := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.guard(ended)
	}()
	t.Cleanup(func() { close(ended); <-done })
	return m
}

// guard looks for two leaders at once: one that leads before and after another one was seen to, in the same term.
func (m *team) guard(ended chan struct{}) {
	for {
		for i, one := range m.candidates {
			before, leads := one.Term()
			if !leads {
				continue
			}
			for j, other := range m.candidates {
				if i != j && other.IsLeader() {
					if after, still := one.Term(); still && after.Token == before.Token {
						m.t.Errorf("candidates %d and %d lead at once", i, j)
						return
					}
				}
			}
		}
		select {
		case <-ended:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

func (m *team) await(what string, holds func() bool) {
	m.t.Helper()
	await(m.t, what, holds)
}

func await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it did not come about that %s", what)
		}
	}
}

// leader waits for a leader and returns it with its token.
func (m *team) leader() (c *tenure.Candidate, token uint64) {
	m.t.Helper()
	m.await("somebody leads", func() bool {
		for _, candidate := range m.candidates {
			if term, ok := candidate.Term(); ok {
				c, token = candidate, term.Token
				return true
			}
		}
		return false
	})
	return c, token
}

// leads reports whether the candidate leads in the term.
func leads(c *tenure.Candidate, token uint64) bool {
	term, ok := c.Term()
	return ok && term.Token == token
}

// keeps checks that the candidate leads in the term for that long: nothing tells that it will not lose it.
func (m *team) keeps(c *tenure.Candidate, token uint64, d time.Duration) {
	m.t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if !leads(c, token) {
			m.t.Fatalf("the leader lost term %d: %+v", token, c.Status())
		}
	}
}

// handsOver stops the leader and checks that another candidate takes over, in the next term.
func (m *team) handsOver(c *tenure.Candidate, token uint64) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	must(m.t, c.Stop(ctx))
	next, higher := m.leader()
	if next == c || higher <= token {
		m.t.Errorf("after a stop in term %d somebody leads in term %d", token, higher)
	}
}
