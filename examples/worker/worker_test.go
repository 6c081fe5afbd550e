package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/examples/internal/exampletest"
	"github.com/tenure-go/tenure/examples/ledger"
	"github.com/tenure-go/tenure/internal/testserver"
	"github.com/tenure-go/tenure/memory"
)

func TestMain(m *testing.M) { exampletest.Main(m) }

// crew are workers of one election, by their IDs.
type crew struct {
	t       *testing.T
	dir     string // of the ledger
	members map[string]*testserver.Process
}

// hire starts three workers and waits until one works.
func hire(t *testing.T, store string, flags ...string) (c crew, leader string, token uint64) {
	t.Helper()
	program := exampletest.Build(t, ".")
	c = crew{t, filepath.Join(t.TempDir(), "ledger"), map[string]*testserver.Process{}}
	for _, id := range []string{"a", "b", "c"} {
		args := append([]string{"-store", store, "-ledger", c.dir, "-id", id, "-every", "20ms"}, flags...)
		c.members[id] = exampletest.Start(t, nil, program, args...)
	}
	leader, token = c.next(0)
	return c, leader, token
}

// next waits until a leader with a higher token works.
func (c crew) next(above uint64) (leader string, token uint64) {
	c.t.Helper()
	e := exampletest.AwaitEntry(c.t, c.dir, above)
	return e.By, e.Token
}

func TestKilledWorkerIsFollowed(t *testing.T) {
	t.Parallel()
	stores := map[string]func() string{
		"file":   func() string { return "file://" + t.TempDir() },
		"sqlite": func() string { return "sqlite://" + filepath.Join(t.TempDir(), "elections.db") },
		"redis":  func() string { return "redis://" + testserver.StartRedis(t).Addr },
	}
	for name, store := range stores {
		t.Run(name, func(t *testing.T) {
			c, leader, token := hire(t, store(), "-ttl", "2s")
			for range 2 {
				c.members[leader].Kill()
				leader, token = c.next(token)
			}
			exampletest.AwaitMore(t, c.dir)
		})
	}
}

// TestStoppedWorkerIsFollowedAtOnce although its lease would have lasted for long.
func TestStoppedWorkerIsFollowedAtOnce(t *testing.T) {
	t.Parallel()
	c, leader, token := hire(t, "file://"+t.TempDir(), "-ttl", "10m")
	for range 2 {
		stopped := c.members[leader]
		stopped.Stop()
		if log := stopped.Log(); !strings.Contains(log, "stopped, and the seat is given back") {
			t.Errorf("the worker ended in another way:\n%s", log)
		}
		leader, token = c.next(token)
	}
}

// TestFrozenWorkerIsFollowed and finds out when it wakes up; then it stands by.
func TestFrozenWorkerIsFollowed(t *testing.T) {
	t.Parallel()
	c, first, token := hire(t, "file://"+t.TempDir(), "-ttl", "2s")
	c.members[first].Freeze()
	_, token = c.next(token)
	c.members[first].Thaw()
	exampletest.AwaitLog(t, c.members[first], "INFO ended")
	exampletest.AwaitMore(t, c.dir)
	if refused := strings.Count(c.members[first].Log(), "refused"); refused > 1 {
		t.Errorf("the worker tried to write %d times after its term", refused)
	}
	for id, member := range c.members {
		if id != first {
			member.Kill()
		}
	}
	exampletest.AwaitEntryBy(t, c.dir, token, first)
}

// TestWorkAsksTheClock: a process that wakes up from a long sleep does nothing under its old term, not even before its
// context has ended.
func TestWorkAsksTheClock(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		begun, slept := time.Now(), atomic.Int64{}
		clock := func() (mono, wall time.Duration) {
			now := time.Since(begun) + time.Duration(slept.Load())
			return now, now
		}
		candidate, err := tenure.New(memory.New(), "worker", tenure.WithClock(clock))
		must(t, err)
		leadership, err := candidate.Campaign(t.Context())
		must(t, err)
		entries, err := ledger.Open(dir)
		must(t, err)
		ctx, cancel := context.WithCancel(t.Context()) // not the term's
		var working sync.WaitGroup
		working.Go(func() { _ = work(ctx, leadership.Term(), entries, time.Second) })
		time.Sleep(3500 * time.Millisecond)
		slept.Store(int64(time.Hour))
		time.Sleep(time.Minute)
		if got := exampletest.Entries(t, dir); len(got) != 3 {
			t.Errorf("it has worked %d times, want the 3 before it slept", len(got))
		}
		cancel()
		working.Wait()
		// A minute of sleep is more than the drain, and the seat was not given back in time.
		if err := leadership.Resign(t.Context()); !errors.Is(err, tenure.ErrOverran) {
			t.Errorf("Resign = %v", err)
		}
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestUnknownStoreIsRefused(t *testing.T) {
	_, err := open(context.Background(), "ftp://user:secret@host/")
	if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), `"ftp"`) {
		t.Errorf("got %v", err)
	}
}
