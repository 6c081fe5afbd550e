//go:build unix

package file

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
)

func TestKilledLeaderLeavesAnAbandonedRecord(t *testing.T) {
	dir := newDir(t)
	s := openStore(t, dir)
	p := start(t, "lead", dir, "e")
	p.expect("leading 1")
	if load(t, s, "e").Abandoned {
		t.Fatal("abandoned while the leader lives")
	}
	p.tell("renew")
	p.expect("done <nil>")
	if load(t, s, "e").Abandoned {
		t.Fatal("abandoned after a renewal")
	}
	p.kill()
	got := load(t, s, "e")
	if !got.Abandoned {
		t.Fatal("not abandoned although the leader is dead and waited for")
	}
	if next, err := begin(s, "e", "s"); err != nil || next.Abandoned || next.Record.Token != 2 {
		t.Errorf("next term: %+v, %v", next, err)
	}
	leftovers(t, s)
}

func TestFrozenLeaderIsNotAbandoned(t *testing.T) {
	dir := newDir(t)
	s := openStore(t, dir)
	p := start(t, "lead", dir, "e")
	p.expect("leading 1")
	p.signal(syscall.SIGSTOP)
	if !p.stopped() {
		t.Fatal("the process has not stopped")
	}
	if load(t, s, "e").Abandoned {
		t.Error("a leader that may wake up counts as dead")
	}
}

// The descriptor that TermLock gives out keeps the seat taken while any process has it.
func TestInheritedLock(t *testing.T) {
	dir := newDir(t)
	s := openStore(t, dir)
	p := start(t, "lead", dir, "e")
	p.expect("leading 1")
	child := startChildOf(p)
	p.kill()
	if load(t, s, "e").Abandoned {
		t.Error("abandoned while the child lives")
	}
	killAndWait(t, child)
	if !load(t, s, "e").Abandoned {
		t.Error("not abandoned although both are dead")
	}
}

func startChildOf(p *process) (pid int) {
	p.t.Helper()
	p.tell("child")
	p.out.Scan()
	var ok bool
	if pid, ok = number(p.out.Text(), "child "); !ok {
		p.t.Fatalf("the process printed %q", p.out.Text())
	}
	p.t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	p.expect("done <nil>")
	return pid
}

// killAndWait kills a process that is nobody's child any more. It polls, for want of anything to wait on.
func killAndWait(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for alive(pid) {
		time.Sleep(time.Millisecond)
	}
}

// A child that was not given the lock does not keep it.
func TestLockIsNotInheritedByAccident(t *testing.T) {
	s := openStore(t, newDir(t))
	if _, err := begin(s, "e", "s"); err != nil {
		t.Fatal(err)
	}
	dup, err := s.TermLock("e", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer dup.Close()
	out, err := exec.Command("ls", "-l", "/proc/self/fd").Output()
	if err != nil {
		t.Skip("needs /proc and ls")
	}
	if dir := string(s.layout); len(out) == 0 || strings.Contains(string(out), dir) {
		t.Errorf("a child inherited a file of the store:\n%s", out)
	}
}

func TestTermLockIsOneOpenFile(t *testing.T) {
	dir := newDir(t)
	s, other := openStore(t, dir), openStore(t, dir)
	snapshot, err := begin(s, "e", "s")
	if err != nil {
		t.Fatal(err)
	}
	dup, err := s.TermLock("e", 1)
	if err != nil {
		t.Fatal(err)
	}
	path := s.terms.held["e"][0].path
	mustSwap(t, s, "e", snapshot.Version, vacant(snapshot.Record))
	// The file has gone with the term, so only the copy itself can show whether it still locks.
	if fresh, err := os.OpenFile(path, os.O_RDONLY, 0); err == nil {
		_ = fresh.Close()
		t.Error("the lock's file outlived its term")
	}
	again, err := os.Open("/proc/self/fd/" + strconv.Itoa(int(dup.Fd())))
	if err != nil {
		t.Skip("needs /proc")
	}
	defer again.Close()
	if free, err := tryLock(again, false); free || err != nil {
		t.Errorf("free %v, %v: letting go of the store's descriptor unlocked the copy", free, err)
	}
	_ = dup.Close()
	if free, err := tryLock(again, false); !free || err != nil {
		t.Errorf("free %v, %v: somebody holds the lock still", free, err)
	}
	if load(t, other, "e").Abandoned {
		t.Error("a vacant record is abandoned")
	}
}

func TestTermLockOfOtherTerms(t *testing.T) {
	dir := newDir(t)
	s, other := openStore(t, dir), openStore(t, dir)
	snapshot, err := begin(s, "e", "s")
	if err != nil {
		t.Fatal(err)
	}
	refuses := func(s *Store, election string, token uint64) {
		t.Helper()
		if f, err := s.TermLock(election, token); !errors.Is(err, tenure.ErrNotLeader) {
			t.Errorf("token %d of %q: %v, %v", token, election, f, err)
		}
	}
	refuses(s, "e", 2)
	refuses(s, "f", 1)
	refuses(other, "e", 1)
	mustSwap(t, s, "e", snapshot.Version, vacant(snapshot.Record))
	refuses(s, "e", 1)
}

// The lock is held as long as the record may name it, and no longer.
func TestLocksAreLetGo(t *testing.T) {
	ends := map[string]func(*testing.T, *Store, *Store, tenure.Snapshot){
		"vacated": func(t *testing.T, s, _ *Store, now tenure.Snapshot) {
			mustSwap(t, s, "e", now.Version, vacant(now.Record))
		},
		"own next term": func(t *testing.T, s, _ *Store, now tenure.Snapshot) {
			now = mustSwap(t, s, "e", now.Version, leader(2, "s"))
			mustSwap(t, s, "e", now.Version, vacant(now.Record))
		},
		"another's term, seen": func(t *testing.T, s, other *Store, now tenure.Snapshot) {
			now = mustSwap(t, other, "e", now.Version, leader(2, "t"))
			load(t, s, "e")
			mustSwap(t, other, "e", now.Version, vacant(now.Record))
		},
		"vacated by another, seen": func(t *testing.T, s, other *Store, now tenure.Snapshot) {
			mustSwap(t, other, "e", now.Version, vacant(now.Record))
			load(t, s, "e")
			load(t, other, "e")
		},
	}
	for what, end := range ends {
		t.Run(what, func(t *testing.T) {
			dir := newDir(t)
			s, other := openStore(t, dir), openStore(t, dir)
			now, err := begin(s, "e", "s")
			if err != nil {
				t.Fatal(err)
			}
			end(t, s, other, now)
			if len(s.terms.held)+len(other.terms.held) != 0 {
				t.Errorf("held: %v, %v", s.terms.held, other.terms.held)
			}
			if entries, err := os.ReadDir(s.layout.terms()); err != nil || len(entries) != 0 {
				t.Errorf("left in the directory of term locks: %v, %v", entries, err)
			}
		})
	}
}

func TestConflictingBidLeavesNoLock(t *testing.T) {
	dir := newDir(t)
	s := openStore(t, dir)
	release := make(chan struct{})
	reached, hook := signalAt("sync", release)
	bidder := openStore(t, dir, hook.option())
	hook.arm()
	failed := make(chan error)
	go func() {
		_, err := bidder.CompareAndSwap(context.Background(), "e", "", leader(1, "late"))
		failed <- err
	}()
	<-reached
	if _, err := begin(s, "e", "early"); err != nil {
		t.Fatal(err)
	}
	close(release)
	if err := <-failed; !errors.Is(err, tenure.ErrConflict) {
		t.Errorf("late bid: %v", err)
	}
	if len(bidder.terms.held) != 0 {
		t.Error("the bidder holds the lock of a term that never began")
	}
	leftovers(t, s)
}

// checkHeld fails the test unless the record of "e" has the token, and names a lock that s holds.
func checkHeld(t *testing.T, s *Store, token uint64) {
	t.Helper()
	now, err := s.read("e")
	must(t, err)
	if now.Record.Token != token || now.Lock == nil {
		t.Fatalf("the record is %+v, with the lock %+v", now.Record, now.Lock)
	}
	path := s.layout.term(now.Lock.File)
	if !exists(path) || isFree(path, now.Lock.Inode) {
		t.Error("the lock of the present term was let go")
	}
	dup, err := s.TermLock("e", token)
	must(t, err)
	_ = dup.Close()
}

// A read that began before a bid and ends after it shows the record before, which says nothing of the bid.
func TestLateReadKeepsTheLock(t *testing.T) {
	dir := newDir(t)
	release := make(chan struct{})
	reached, hook := signalAt("read", release)
	s := openStore(t, dir, hook.option())
	before := mustSwap(t, s, "e", "", tenure.Record{Token: 1})
	hook.arm()
	read := make(chan error)
	go func() {
		_, err := s.Load(context.Background(), "e")
		read <- err
	}()
	<-reached
	mustSwap(t, s, "e", before.Version, leader(2, "s"))
	close(release)
	if err := <-read; err != nil {
		t.Fatal(err)
	}
	checkHeld(t, s, 2)
}

// A read during a bid does not take the bidder's lock for that of a term that is over.
func TestReadDuringABidKeepsTheLock(t *testing.T) {
	release := make(chan struct{})
	reached, hook := signalAt("sync", release)
	s := openStore(t, newDir(t), hook.option())
	hook.arm()
	bid := make(chan error)
	go func() {
		_, err := s.CompareAndSwap(context.Background(), "e", "", leader(1, "s"))
		bid <- err
	}()
	<-reached
	load(t, s, "e")
	close(release)
	must(t, <-bid)
	checkHeld(t, s, 1)
}

// A write that is slow to clean up does not take the lock of the term after it for one that is over.
func TestLateWriteKeepsTheNextLock(t *testing.T) {
	dir := newDir(t)
	release := make(chan struct{})
	reached, hook := signalAt("syncdir", release)
	s := openStore(t, dir, hook.option())
	hook.arm()
	written := make(chan error)
	go func() {
		_, err := s.CompareAndSwap(context.Background(), "e", "", leader(1, "s"))
		written <- err
	}()
	<-reached
	mustSwap(t, s, "e", load(t, s, "e").Version, leader(2, "s"))
	close(release)
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	checkHeld(t, s, 2)
}

// A bid of which the bidder had no answer counts as won only when no power cut can take it back.
func TestSeenBidIsSynced(t *testing.T) {
	dir := newDir(t)
	ctx, cancel := context.WithCancel(context.Background())
	release := make(chan struct{})
	synced := 0
	s := openStore(t, dir, option(func(c *config) {
		renamed := false
		c.after = func(st step) {
			switch {
			case st.op == "rename" && st.to == filepath.Join(dir, electionDir, "e.json"):
				renamed = true
				cancel()
				<-release
			case st.op == "syncdir" && renamed:
				synced++
			}
		}
	}))
	if _, err := s.CompareAndSwap(ctx, "e", "", leader(1, "s")); errors.Is(err, tenure.ErrNotApplied) {
		t.Fatalf("swap: %v", err)
	}
	if got := load(t, s, "e"); got.Record.Token != 1 || got.Abandoned || synced != 1 {
		t.Errorf("load: %+v after %d syncs of the directory", got, synced)
	}
	load(t, s, "e")
	if synced != 1 {
		t.Error("what is known to be synced is synced again")
	}
	if dup, err := s.TermLock("e", 1); err != nil {
		t.Errorf("lock of a term that was seen: %v", err)
	} else {
		_ = dup.Close()
	}
	close(release)
	settled(s)
}

// A write that may be lost in a power cut, since its directory could not be synced, is an unknown outcome.
func TestUnknownOutcomeKeepsTheLock(t *testing.T) {
	dir := newDir(t)
	away := filepath.Join(dir, "away")
	hook := &hookOf{op: "rename", at: func() { must(t, os.Rename(filepath.Join(dir, electionDir), away)) }}
	s := openStore(t, dir, hook.option())
	hook.arm()
	_, err := s.CompareAndSwap(context.Background(), "e", "", leader(1, "s"))
	must(t, os.Rename(away, filepath.Join(dir, electionDir)))
	for _, certain := range []error{tenure.ErrConflict, tenure.ErrNotApplied, tenure.ErrPermanent} {
		if err == nil || errors.Is(err, certain) {
			t.Errorf("error %v", err)
		}
	}
	load(t, s, "e")
	checkHeld(t, s, 1)
}

// Close does not say that the work is over.
func TestCloseKeepsTheLocksOfStandingTerms(t *testing.T) {
	dir := newDir(t)
	s, other := openStore(t, dir), openStore(t, dir)
	if _, err := begin(s, "long", "s"); err != nil {
		t.Fatal(err)
	}
	record := leader(1, "s")
	record.TTL = tenure.MinTTL
	mustSwap(t, s, "short", "", record)
	_ = s.Close()
	// The lease is counted by the runtime's timers, which nothing can advance.
	for !load(t, other, "short").Abandoned {
		time.Sleep(tenure.MinTTL / 10)
	}
	if load(t, other, "long").Abandoned {
		t.Error("the term is abandoned although its work may go on")
	}
	if _, err := s.TermLock("long", 1); !errors.Is(err, tenure.ErrNotLeader) {
		t.Errorf("lock from a closed store: %v", err)
	}
}

// A bid that lands after Close keeps its lock as well.
func TestCloseDuringABid(t *testing.T) {
	dir := newDir(t)
	release := make(chan struct{})
	reached, hook := signalAt("sync", release)
	s, other := openStore(t, dir, hook.option()), openStore(t, dir)
	hook.arm()
	record := leader(1, "s")
	record.TTL = time.Second
	bid := make(chan error)
	go func() {
		_, err := s.CompareAndSwap(context.Background(), "e", "", record)
		bid <- err
	}()
	<-reached
	must(t, s.Close())
	before := time.Now()
	close(release)
	must(t, <-bid)
	for !load(t, other, "e").Abandoned {
		time.Sleep(10 * time.Millisecond) // the lease is counted by the runtime's timers
	}
	if held := time.Since(before); held < record.TTL {
		t.Errorf("the lock was let go after %v of a lease of %v", held, record.TTL)
	}
}

// A program that drops its store has not said that its work is over.
func TestDroppedStoreKeepsItsLocks(t *testing.T) {
	dir := newDir(t)
	func() {
		s, err := Open(dir)
		must(t, err)
		must(t, beginAs(s, "s"))
	}()
	for range 5 {
		runtime.GC() // finalizers run some time after one collection, and free what the next one finds
		time.Sleep(time.Millisecond)
	}
	if load(t, openStore(t, dir), "e").Abandoned {
		t.Error("the garbage collector let go of the lock")
	}
}

// Where anything is in doubt the store does not vouch for the leader's death.
func TestDoubtfulDeaths(t *testing.T) {
	doubts := map[string]func(t *testing.T, s *Store, lock string) *Store{
		"another boot": func(t *testing.T, s *Store, _ string) *Store {
			return openStore(t, string(s.layout), option(func(c *config) { c.boot = func() string { return "another" } }))
		},
		"boot unknown": func(t *testing.T, s *Store, _ string) *Store {
			return openStore(t, string(s.layout), option(func(c *config) { c.boot = func() string { return "" } }))
		},
		"lock file missing": func(t *testing.T, s *Store, lock string) *Store {
			must(t, os.Remove(lock))
			return s
		},
		"lock file replaced": func(t *testing.T, s *Store, lock string) *Store {
			// The first file is kept, as a living holder keeps it, or its number could be given to the second.
			must(t, os.Rename(lock, lock+".kept"))
			must(t, os.WriteFile(lock, nil, 0o600))
			return s
		},
	}
	for what, doubt := range doubts {
		t.Run(what, func(t *testing.T) {
			dir := newDir(t)
			s := openStore(t, dir)
			p := start(t, "lead", dir, "e")
			p.expect("leading 1")
			p.kill()
			e, err := s.read("e")
			must(t, err)
			if !load(t, s, "e").Abandoned {
				t.Fatal("not abandoned")
			}
			if load(t, doubt(t, s, s.layout.term(e.lockFile())), "e").Abandoned {
				t.Error("abandoned in spite of the doubt")
			}
		})
	}
}

// Two systems that cannot name their boots are not in the same one.
func TestUnknownBoots(t *testing.T) {
	for boot, want := range map[string]bool{"": false, "same": true} {
		dir := newDir(t)
		named := option(func(c *config) { c.boot = func() string { return boot } })
		holder := openStore(t, dir, named)
		must(t, beginAs(holder, "s"))
		unlock(holder.terms.held["e"][0].File)
		if got := load(t, openStore(t, dir, named), "e").Abandoned; got != want {
			t.Errorf("boot %q: abandoned %v, want %v", boot, got, want)
		}
	}
}

// Records of other programs name no lock.
func TestRecordWithoutLock(t *testing.T) {
	s := openStore(t, newDir(t))
	record := leader(1, "s")
	text, err := envelope{Format: 1, Election: "e", Version: "1-a", Record: &record}.encode()
	must(t, err)
	must(t, os.WriteFile(s.layout.record("e"), text, 0o600))
	if got := load(t, s, "e"); got.Abandoned || got.Record.Token != 1 {
		t.Errorf("%+v", got)
	}
	record.Renewals++
	mustSwap(t, s, "e", "1-a", record)
}

// Probes are in nobody's way, sweeps neither.
func TestProbesDoNotDisturb(t *testing.T) {
	dir := newDir(t)
	s := openStore(t, dir)
	p := start(t, "lead", dir, "e")
	p.expect("leading 1")
	p.kill()
	e, err := s.read("e")
	must(t, err)
	probe, err := os.Open(s.layout.term(e.lockFile()))
	must(t, err)
	defer probe.Close()
	if free, err := tryLock(probe, false); !free || err != nil {
		t.Fatalf("free %v, %v", free, err)
	}
	if !load(t, s, "e").Abandoned {
		t.Error("a probe takes another probe for the holder")
	}
	if !load(t, openStore(t, dir), "e").Abandoned {
		t.Error("a sweep removed the lock that a record names")
	}
}
