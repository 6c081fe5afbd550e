//go:build linux

package worker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/integration/internal/history"
	"github.com/tenure-go/tenure/internal/testserver"
)

// A store whose pool is exhausted gets no answer until the connections are given back, and closing it leaves nothing
// behind.
func TestPoolsAreExhausted(t *testing.T) {
	for name, address := range map[string]func() string{
		"sqlite": func() string { return "sqlite://" + testserver.Dir(t) + "/elections.db" },
		"redis":  func() string { return "redis://" + testserver.StartRedis(t).Addr + "/0" },
	} {
		t.Run(name, func(t *testing.T) {
			o, err := Open(t.Context(), address())
			if err != nil {
				t.Fatal(err)
			}
			before := history.Now()
			back, effect, err := o.exhaust()
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(effect, "5 connections") || history.Now().Sub(before) < missedWithin {
				t.Errorf("the effect is %q", effect)
			}
			back()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if _, err := o.Load(ctx, "e"); err != nil {
				t.Errorf("with the connections back: %v", err)
			}
			if err := o.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// What exhausts nothing is an error, and holds nothing.
func TestAPoolThatIsNotExhausted(t *testing.T) {
	o, err := Open(t.Context(), "file://"+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if _, _, err := o.exhaust(); err == nil {
		t.Error("a store without a pool was exhausted")
	}
	returned := 0
	o.pool = endless{&returned}
	if _, _, err := o.exhaust(); err == nil || returned != poolSize {
		t.Errorf("a store that answers was exhausted: %v, with %d of %d connections back", err, returned, poolSize)
	}
}

// endless is a pool that has connections for everybody.
type endless struct{ returned *int }

func (e endless) take(context.Context) (func(), error) { return func() { *e.returned++ }, nil }

func (endless) close() {}

// Whatever an error looks like, an order has one line for an answer, and the next order gets its own.
func TestAnAnswerIsOneLine(t *testing.T) {
	w := &candidate{}
	w.store.Store(&Opened{Store: unreachable{}, pool: endless{new(int)}})
	orders, give := io.Pipe()
	hear, answers := io.Pipe()
	go w.obey(orders, answers) // never ends: the end of its input is that of the process
	lines := bufio.NewScanner(hear)
	for _, c := range []struct{ order, want string }{
		{OrderExhaust, "holds 5 connections of its pool, whose store says: one host: refused other host: refused"},
		{OrderRelease, "released"},
	} {
		fmt.Fprintln(give, c.order)
		if !lines.Scan() || lines.Text() != c.want {
			t.Errorf("the answer to %q is %q, want %q", c.order, lines.Text(), c.want)
		}
	}
}

// unreachable is a store with an error of several lines, as PostgreSQL's is with several hosts.
type unreachable struct{ Store }

func (unreachable) Load(context.Context, string) (tenure.Snapshot, error) {
	return tenure.Snapshot{}, errors.New("one host: refused\n\tother host: refused")
}
