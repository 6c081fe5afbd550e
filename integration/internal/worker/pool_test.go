//go:build linux

package worker

import (
	"context"
	"strings"
	"testing"
	"time"

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
