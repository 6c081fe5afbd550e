//go:build unix

package file

import (
	"context"
	"errors"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
)

func TestProcessesSwapOneElection(t *testing.T) {
	dir := newDir(t)
	const processes, times = 4, 25
	var running []*process
	for range processes {
		running = append(running, start(t, "count", dir, "e", strconv.Itoa(times)))
	}
	for _, p := range running {
		p.expect("done <nil>")
	}
	checkCount(t, dir, processes*times)
}

func checkCount(t *testing.T, dir string, want int) {
	t.Helper()
	s := openStore(t, dir)
	got := load(t, s, "e")
	if got.Record.Metadata["number"] != strconv.Itoa(want) {
		t.Errorf("counted to %s, want %d", got.Record.Metadata["number"], want)
	}
	if n, err := revision(got.Version); err != nil || n != uint64(want) {
		t.Errorf("version %s after %d writes, %v", got.Version, want, err)
	}
	leftovers(t, s)
}

// Processes are frozen at any moment, often enough with a swap lock in their hands. No write is lost, and none waits
// until they wake up.
func TestProcessesSwapWhileOthersFreeze(t *testing.T) {
	dir := newDir(t)
	const processes, times = 3, 60
	var running []*process
	for range processes {
		running = append(running, start(t, "count", dir, "e", strconv.Itoa(times)))
	}
	for i := range 12 {
		p := running[i%processes]
		p.signal(syscall.SIGSTOP)
		// Nothing but time makes the others take the lock away.
		time.Sleep(stallTime + stallTime/4)
		p.signal(syscall.SIGCONT)
	}
	for _, p := range running {
		p.expect("done <nil>")
	}
	checkCount(t, dir, processes*times)
}

// A process that holds the swap lock and is frozen holds up the others for stallTime, and not for ever.
func TestFrozenHolderOfTheSwapLock(t *testing.T) {
	dir := newDir(t)
	s := openStore(t, dir)
	mustSwap(t, s, "e", "", tenure.Record{Token: 1})
	lock, err := os.Open(s.layout.lock("e"))
	must(t, err)
	defer lock.Close()
	if locked, err := tryLock(lock, true); !locked || err != nil {
		t.Fatal(locked, err)
	}
	for range 3 {
		must(t, beginAs(s, "s"))
	}
	if isAt(lock, s.layout.lock("e")) {
		t.Error("the lock was not replaced")
	}
	leftovers(t, s)
}

// Calls that are given less time than a stall takes to show count together.
func TestStallIsRememberedBetweenCalls(t *testing.T) {
	s := openStore(t, newDir(t))
	mustSwap(t, s, "e", "", tenure.Record{Token: 1})
	lock, err := os.Open(s.layout.lock("e"))
	must(t, err)
	defer lock.Close()
	if locked, err := tryLock(lock, true); !locked || err != nil {
		t.Fatal(locked, err)
	}
	for calls := 1; ; calls++ {
		ctx, cancel := context.WithTimeout(context.Background(), stallTime/5)
		fresh, err := s.lockElection(ctx, "e", "")
		cancel()
		if err == nil {
			release(fresh)
			break
		}
		if !errors.Is(err, context.DeadlineExceeded) || calls > 1000 {
			t.Fatalf("call %d: %v", calls, err)
		}
	}
}

// A swap lock whose file was replaced, or removed, after it was opened is worth nothing.
func TestLockOfAFileThatHasGone(t *testing.T) {
	dir := newDir(t)
	other := openStore(t, dir)
	mustSwap(t, other, "e", "", tenure.Record{Token: 1})
	var held *os.File
	hook := &hookOf{op: "open", at: func() {
		must(t, os.Remove(other.layout.lock("e")))
		var err error
		held, err = other.tryLockElection("e", "")
		must(t, err)
	}}
	s := openStore(t, dir, hook.option())
	hook.arm()
	if lock, err := s.tryLockElection("e", ""); lock != nil || err != nil || held == nil {
		t.Errorf("locked %v, %v, beside %v", lock, err, held)
	}
	release(held)
}

// The swap lock is left alone while records are deleted.
func TestLockIsNotReplacedDuringADeletion(t *testing.T) {
	s := openStore(t, newDir(t))
	before := mustSwap(t, s, "e", "", tenure.Record{Token: 1})
	deletion, err := s.lockStore(context.Background())
	must(t, err)
	lock, err := s.tryLockElection("e", "")
	must(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 3*stallTime)
	defer cancel()
	_, err = s.CompareAndSwap(ctx, "e", before.Version, leader(2, "s"))
	if !errors.Is(err, tenure.ErrNotApplied) {
		t.Errorf("swap: %v", err)
	}
	release(lock)
	release(deletion)
	mustSwap(t, s, "e", before.Version, leader(2, "s"))
}

// A pruned token never comes again, whatever a slow bidder remembers.
func TestFloor(t *testing.T) {
	dir := newDir(t)
	s := openStore(t, dir)
	missing := load(t, s, "e")
	mustSwap(t, s, "e", missing.Version, tenure.Record{Token: 50, TTL: time.Second})
	names, err := s.Prune(context.Background(), 0)
	if err != nil || len(names) != 1 {
		t.Fatalf("prune: %q, %v", names, err)
	}
	for _, token := range []uint64{0, 1, 50} {
		_, err := s.CompareAndSwap(context.Background(), "e", missing.Version, leader(token, "s"))
		if !errors.Is(err, tenure.ErrConflict) {
			t.Errorf("token %d: %v", token, err)
		}
	}
	for _, election := range []string{"e", "f"} {
		if got := load(t, openStore(t, dir), election); got.Exists() || got.Record.Token != 50 {
			t.Errorf("%s after pruning: %+v", election, got)
		}
	}
	mustSwap(t, s, "e", "", tenure.Record{Token: 50})
	mustSwap(t, s, "f", "", leader(51, "s"))
}

func TestPruneLeavesWhatIsUsed(t *testing.T) {
	dir := newDir(t)
	s := openStore(t, dir)
	mustSwap(t, s, "led", "", leader(1, "s"))
	mustSwap(t, s, "paused", "", tenure.Record{Token: 2, Pause: &tenure.Pause{By: "me"}})
	mustSwap(t, s, "recent", "", tenure.Record{Token: 3})
	mustSwap(t, s, "unused", "", tenure.Record{Token: 4, Forgotten: true})
	mustSwap(t, s, "written", "", tenure.Record{Token: 5})
	old := time.Now().Add(-2 * time.Hour)
	for _, election := range []string{"led", "paused", "unused", "written"} {
		must(t, os.Chtimes(s.layout.record(election), old, old))
	}
	lock, err := s.tryLockElection("written", "")
	must(t, err)
	defer release(lock)

	names, err := s.Prune(context.Background(), time.Hour)
	if err != nil || len(names) != 1 || names[0] != "unused" {
		t.Errorf("pruned %q, %v", names, err)
	}
	if left, err := s.List(context.Background()); err != nil || len(left) != 4 {
		t.Errorf("left: %q, %v", left, err)
	}
	if exists(s.layout.lock("unused")) {
		t.Error("the swap lock of a pruned election is still there")
	}
}

// A record that is written after it was judged unused stays.
func TestPruneRacesWithABid(t *testing.T) {
	dir := newDir(t)
	release := make(chan struct{})
	reached, hook := signalAt("syncdir", release)
	s := openStore(t, dir, hook.option())
	before := mustSwap(t, s, "e", "", tenure.Record{Token: 1})
	hook.arm()
	pruned := make(chan []string)
	go func() {
		names, err := s.Prune(context.Background(), 0)
		if err != nil {
			t.Error(err)
		}
		pruned <- names
	}()
	<-reached // the floor is raised, nothing is deleted yet
	mustSwap(t, openStore(t, dir), "e", before.Version, leader(2, "s"))
	close(release)
	if names := <-pruned; len(names) != 0 {
		t.Errorf("pruned %q", names)
	}
	if got := load(t, s, "e"); got.Record.Token != 2 {
		t.Errorf("the record is now %+v", got)
	}
}

func TestCallBoundsParallelWork(t *testing.T) {
	slots := make(chan struct{}, 2)
	release := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	for range 2 {
		go func() { _, _ = call(ctx, slots, func() int { <-release; return 0 }) }()
	}
	for len(slots) < 2 {
		time.Sleep(time.Millisecond) // until both have begun
	}
	cancel()
	if _, err := call(ctx, slots, func() int { t.Error("a third began"); return 0 }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	close(release)
	if got, err := call(context.Background(), slots, func() int { return 7 }); got != 7 || err != nil {
		t.Errorf("got %d, %v", got, err)
	}
}
