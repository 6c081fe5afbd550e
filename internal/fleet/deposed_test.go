package fleet

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
	"github.com/tenure-go/tenure/tenuretest"
)

// mark is a resource in memory. Its fence can be left open, or let one write pass and no other.
type mark struct {
	token      uint64
	text       string
	open, once bool
}

var errStale = errors.New("stale")

func (m *mark) raise(_ context.Context, token uint64) error {
	if token < m.token && !m.open {
		return errStale
	}
	m.token = token
	return nil
}

func (m *mark) write(ctx context.Context, token uint64, text string) error {
	if m.once && m.text != "" {
		return errStale
	}
	err := m.raise(ctx, token)
	if err == nil {
		m.text = text
	}
	return err
}

// What is found where a fence holds, where it does not, and where tokens do not rise.
func TestDeposed(t *testing.T) {
	for name, c := range map[string]struct {
		open, apart bool
		late        error
		failures    int
	}{
		"fenced":               {late: errStale},
		"not fenced":           {open: true, failures: 1},
		"tokens that are even": {apart: true, late: errStale, failures: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memory.New()
				leader, successor := tenuretest.NewFaulty(store), tenure.Store(store)
				if c.apart {
					successor = memory.New()
				}
				m, r := &mark{open: c.open, once: c.apart}, &recorder{T: t}
				heal := func() {}
				_, _, late := Deposed(r, leader, successor, func() { heal = leader.Inject(tenuretest.Freeze()) },
					Resource{Raise: m.raise, Write: m.write, Read: func() string { return m.text }})
				heal()
				if !errors.Is(late, c.late) || len(r.failures) != c.failures {
					t.Errorf("the late write returned %v, and the failures are %q", late, r.failures)
				}
			})
		})
	}
}
