//go:build unix

package file

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// A sweep leaves alone what living processes are about to use.
func TestSweepDuringABid(t *testing.T) {
	for _, op := range []string{"flock", "write", "sync", "lock", "compare", "rename"} {
		t.Run(op, func(t *testing.T) {
			dir := newDir(t)
			release := make(chan struct{})
			reached, hook := signalAt(op, release)
			s := openStore(t, dir, hook.option())
			hook.arm()
			bid := make(chan error)
			go func() {
				_, err := s.CompareAndSwap(context.Background(), "e", "", leader(1, "s"))
				bid <- err
			}()
			<-reached
			removals := 0
			other := openStore(t, dir, option(func(c *config) {
				c.after = func(s step) {
					if s.op == "remove" && filepath.Dir(s.path) != filepath.Join(dir, lockDir) {
						removals++
					}
				}
			}))
			close(release)
			if err := <-bid; err != nil || removals != 0 {
				t.Errorf("bid: %v, after a sweep that removed %d files", err, removals)
			}
			if got := load(t, other, "e"); got.Record.Token != 1 || got.Abandoned {
				t.Errorf("after the sweep: %+v", got)
			}
		})
	}
}

// A sweep that comes between the making of a file and its locking makes the bidder make another.
func TestSweepBeforeTheLock(t *testing.T) {
	dir := newDir(t)
	other := openStore(t, dir)
	hook := &hookOf{op: "create", at: other.sweep}
	s := openStore(t, dir, hook.option())
	hook.arm()
	must(t, beginAs(s, "s"))
	if got := load(t, other, "e"); got.Record.Token != 1 || got.Abandoned {
		t.Errorf("after the sweep: %+v", got)
	}
	if _, err := s.TermLock("e", 1); err != nil {
		t.Error(err)
	}
	leftovers(t, s)
}

// A term that begins and is abandoned while a sweep is at work keeps its lock file, which alone can tell of the death.
func TestSweepOfALockThatIsNamedMeanwhile(t *testing.T) {
	dir := newDir(t)
	bidder := openStore(t, dir)
	lock, err := bidder.lockTerm("e", leader(1, "s"))
	must(t, err)
	hook := &hookOf{op: "named", at: func() {
		record := leader(1, "s")
		text, err := envelope{Format: 1, Election: "e", Version: "1-a", Lock: &lock.name, Record: &record}.encode()
		must(t, err)
		must(t, os.WriteFile(bidder.layout.record("e"), text, 0o600))
		unlock(lock.File)
	}}
	s := openStore(t, dir, hook.option())
	hook.arm()
	s.sweep()
	if !exists(lock.path) {
		t.Error("the lock that a record names was removed")
	}
	hook.fires(step{op: "named"})
	unlock(lock.File)
	s.sweep()
	if exists(lock.path) {
		t.Error("the lock that no record names was left")
	}
}

// While a sweep looks at the lock of a dead leader, others still see that it is free.
func TestSweepDoesNotDisturbProbes(t *testing.T) {
	dir := newDir(t)
	holder := openStore(t, dir)
	must(t, beginAs(holder, "s"))
	unlock(holder.terms.held["e"][0].File)
	other := openStore(t, dir)
	looks := 0
	hook := &hookOf{op: "named", at: func() {
		if looks++; !load(t, other, "e").Abandoned {
			t.Error("a sweep was taken for the holder")
		}
	}}
	hook.arm()
	openStore(t, dir, hook.option())
	if looks != 1 {
		t.Errorf("the sweep looked %d times", looks)
	}
}
