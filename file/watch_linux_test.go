package file

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
)

// delivery is what a watch was told.
type delivery struct {
	snapshot tenure.Snapshot
	err      error
}

// watchElection returns what a watch is told, of which it may be told any amount.
func watchElection(t *testing.T, s *Store, election string) chan delivery {
	t.Helper()
	told := make(chan delivery, 10000)
	stop, err := s.Watch(context.Background(), election, func(snapshot tenure.Snapshot, err error) {
		told <- delivery{snapshot, err}
	})
	must(t, err)
	t.Cleanup(stop)
	return told
}

// until returns the first delivery that is as wanted. It waits as long as the test may run.
func until(t *testing.T, told <-chan delivery, wanted func(delivery) bool) delivery {
	t.Helper()
	for d := range told {
		if wanted(d) {
			return d
		}
	}
	return delivery{}
}

func untilToken(t *testing.T, told <-chan delivery, token uint64) tenure.Snapshot {
	t.Helper()
	return until(t, told, func(d delivery) bool { return d.err == nil && d.snapshot.Record.Token == token }).snapshot
}

func untilAbandoned(t *testing.T, told <-chan delivery) tenure.Snapshot {
	t.Helper()
	return until(t, told, func(d delivery) bool { return d.snapshot.Abandoned }).snapshot
}

func TestWatchTellsTheStateAndItsChanges(t *testing.T) {
	dir := newDir(t)
	s, other := openStore(t, dir), openStore(t, dir)
	told := watchElection(t, s, "e")
	if first := <-told; first.err != nil || first.snapshot.Exists() {
		t.Errorf("first: %+v", first)
	}
	now, err := begin(other, "e", "s")
	must(t, err)
	if got := untilToken(t, told, 1); got.Version != now.Version || got.Abandoned {
		t.Errorf("after a bid: %+v, written: %+v", got, now)
	}
	if first := <-watchElection(t, s, "e"); first.snapshot.Version != now.Version {
		t.Errorf("first of a second watch: %+v", first)
	}
	now = mustSwap(t, other, "e", now.Version, vacant(now.Record))
	until(t, told, func(d delivery) bool { return d.snapshot.Version == now.Version })
	_, err = other.Prune(context.Background(), 0)
	must(t, err)
	gone := until(t, told, func(d delivery) bool { return !d.snapshot.Exists() })
	if gone.err != nil || gone.snapshot.Record.Token != 1 {
		t.Errorf("after pruning: %+v", gone)
	}
}

// The lease lasts an hour: only the kernel's word can be the reason.
func TestWatchTellsOfADeathAtOnce(t *testing.T) {
	dir := newDir(t)
	told := watchElection(t, openStore(t, dir), "e")
	p := start(t, "lead", dir, "e")
	p.expect("leading 1")
	if got := untilToken(t, told, 1); got.Abandoned {
		t.Error("abandoned while the leader lives")
	}
	p.kill()
	killed := time.Now()
	untilAbandoned(t, told)
	t.Logf("told %v after the process was waited for", time.Since(killed))
}

func TestWatchWaitsForTheChildToo(t *testing.T) {
	dir := newDir(t)
	s := openStore(t, dir)
	told := watchElection(t, s, "e")
	p := start(t, "lead", dir, "e")
	p.expect("leading 1")
	child := startChildOf(p)
	p.kill()
	// Something else is delivered after the death, so that it would have been told.
	snapshot := load(t, s, "e")
	snapshot.Record.Request = &tenure.Request{Token: 1}
	now := mustSwap(t, s, "e", snapshot.Version, snapshot.Record)
	got := until(t, told, func(d delivery) bool { return d.snapshot.Abandoned || d.snapshot.Version == now.Version })
	if got.snapshot.Abandoned {
		t.Error("abandoned while the child lives")
	}
	must(t, syscall.Kill(child, syscall.SIGKILL))
	untilAbandoned(t, told)
}

// Frozen leaders, and children, are alive; killed while frozen they are not.
func TestWatchOfAFrozenLeader(t *testing.T) {
	dir := newDir(t)
	s := openStore(t, dir)
	told := watchElection(t, s, "e")
	p := start(t, "lead", dir, "e")
	p.expect("leading 1")
	child := startChildOf(p)
	must(t, syscall.Kill(child, syscall.SIGSTOP))
	p.signal(syscall.SIGSTOP)
	if !p.stopped() {
		t.Fatal("the process has not stopped")
	}
	now := load(t, s, "e")
	now.Record.Request = &tenure.Request{Token: 1}
	now = mustSwap(t, s, "e", now.Version, now.Record)
	got := until(t, told, func(d delivery) bool { return d.snapshot.Abandoned || d.snapshot.Version == now.Version })
	if got.snapshot.Abandoned {
		t.Error("a frozen leader counts as dead")
	}
	p.kill()
	must(t, syscall.Kill(child, syscall.SIGKILL))
	untilAbandoned(t, told)
}

// The kernel announces the last close of a file a moment before it frees the lock, so a lock that is found held after
// the announcement is looked at again. Here the announcement comes from another close, and the lock is freed, without
// an announcement, after it was found held.
func TestAnnouncementBeforeTheLockIsFree(t *testing.T) {
	dir := newDir(t)
	holder := openStore(t, dir)
	must(t, beginAs(holder, "s"))
	lock := holder.terms.held["e"][0]
	hook := &hookOf{op: "probe", at: func() { unlock(lock.File) }}
	s := openStore(t, dir, hook.option())
	told := watchElection(t, s, "e")
	untilToken(t, told, 1)
	hook.arm()
	other, err := os.OpenFile(lock.path, os.O_WRONLY, 0)
	must(t, err)
	must(t, other.Close())
	untilAbandoned(t, told)
}

func TestManyElectionsShareOneInotify(t *testing.T) {
	const elections = 1000
	dir := newDir(t)
	s, writer := openStore(t, dir), openStore(t, dir)
	before := runtime.NumGoroutine()
	told := make(chan string, 10*elections)
	for i := range elections {
		stop, err := s.Watch(context.Background(), electionName(i), func(snapshot tenure.Snapshot, err error) {
			told <- fmt.Sprint(i, " ", snapshot.Record.Token, " ", err)
		})
		must(t, err)
		t.Cleanup(stop)
	}
	if more := runtime.NumGoroutine() - before; more > 2 {
		t.Errorf("%d more goroutines", more)
	}
	if n := inotifies(t); n != 1 {
		t.Errorf("%d inotify instances", n)
	}
	var writes sync.WaitGroup
	for i := range elections {
		writes.Go(func() {
			_, err := writer.CompareAndSwap(context.Background(), electionName(i), "", tenure.Record{Token: 7})
			if err != nil {
				t.Error(err)
			}
		})
	}
	writes.Wait()
	waiting := make(map[string]bool)
	for i := range elections {
		waiting[fmt.Sprint(i, " 7 <nil>")] = true
	}
	for len(waiting) > 0 {
		delete(waiting, <-told)
	}
}

func electionName(i int) string { return fmt.Sprint("Election/", i) }

func inotifies(t *testing.T) int {
	t.Helper()
	n := 0
	for _, target := range descriptors(t) {
		if strings.Contains(target, "inotify") {
			n++
		}
	}
	return n
}

// descriptors returns what the process has open, by descriptor.
func descriptors(t *testing.T) map[string]string {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	open := make(map[string]string)
	for _, entry := range entries {
		if target, err := os.Readlink("/proc/self/fd/" + entry.Name()); err == nil {
			open[entry.Name()] = target
		}
	}
	return open
}

func TestNothingIsLeftAfterClose(t *testing.T) {
	dir := newDir(t)
	goroutines := runtime.NumGoroutine()
	s, err := Open(dir)
	must(t, err)
	told := make(chan delivery, 1000)
	for i := range 10 {
		_, err := s.Watch(context.Background(), electionName(i), func(snapshot tenure.Snapshot, err error) {
			told <- delivery{snapshot, err}
		})
		must(t, err)
		now, err := begin(s, electionName(i), "s")
		must(t, err)
		now = mustSwap(t, s, electionName(i), now.Version, leader(2, "s"))
		mustSwap(t, s, electionName(i), now.Version, vacant(now.Record))
		if _, err := s.CompareAndSwap(context.Background(), electionName(i), now.Version, now.Record); err == nil {
			t.Error("no conflict")
		}
	}
	must(t, s.Close())
	// A goroutine that has done its last work takes a moment to be gone.
	for runtime.NumGoroutine() > goroutines {
		runtime.Gosched()
	}
	for fd, target := range descriptors(t) {
		if strings.HasPrefix(target, dir) || strings.Contains(target, "inotify") {
			t.Errorf("descriptor %s is still open: %s", fd, target)
		}
	}
	close(told)
	ends := 0
	for d := range told {
		if errors.Is(d.err, tenure.ErrPermanent) {
			ends++
		}
	}
	if ends != 10 {
		t.Errorf("%d of 10 watches were told of the end", ends)
	}
	if _, err := s.Watch(context.Background(), "e", func(tenure.Snapshot, error) {}); !errors.Is(err, tenure.ErrPermanent) {
		t.Errorf("watch of a closed store: %v", err)
	}
}

func TestStopWaitsForTheDelivery(t *testing.T) {
	s := openStore(t, newDir(t))
	entered, release := make(chan struct{}), make(chan struct{})
	var mu sync.Mutex
	calls := 0
	stop, err := s.Watch(context.Background(), "e", func(tenure.Snapshot, error) {
		mu.Lock()
		defer mu.Unlock()
		if calls++; calls == 1 {
			close(entered)
			<-release
		}
	})
	must(t, err)
	<-entered
	stopped := make(chan struct{})
	go func() {
		stop()
		stop()
		close(stopped)
	}()
	runtime.Gosched()
	select {
	case <-stopped:
		t.Error("stop returned during a delivery")
	default:
	}
	close(release)
	<-stopped
	told := watchElection(t, s, "e")
	must(t, beginAs(s, "s"))
	untilToken(t, told, 1) // whatever else had to be delivered was before that
	if calls != 1 {
		t.Errorf("%d deliveries, the last after stop", calls)
	}
}

// The kernel's queue overflows while nobody reads it, and the change that matters is among those that are lost.
func TestOverflow(t *testing.T) {
	dir := newDir(t)
	s, writer := openStore(t, dir), openStore(t, dir)
	told := watchElection(t, s, "e")
	<-told
	limit := queueLimit(t)
	s.watches.mu.Lock()
	a, b := s.layout.record("a"), s.layout.record("b")
	must(t, os.WriteFile(a, nil, 0o600))
	for range limit/2 + 2000 {
		must(t, os.Rename(a, b))
		must(t, os.Rename(b, a))
	}
	must(t, beginAs(writer, "s"))
	s.watches.mu.Unlock()
	untilToken(t, told, 1)
}

func queueLimit(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	must(t, err)
	limit, ok := number(strings.TrimSpace(string(text)), "")
	if !ok || limit > 100000 {
		t.Skipf("the queue holds %q events", text)
	}
	return limit
}

func TestWatchOfARemovedDirectory(t *testing.T) {
	for what, remove := range map[string]func(dir string) error{
		"removed": os.RemoveAll,
		"moved":   func(dir string) error { return os.Rename(dir, dir+".old") },
		"one directory removed": func(dir string) error {
			return os.RemoveAll(filepath.Join(dir, termDir))
		},
	} {
		t.Run(what, func(t *testing.T) {
			dir := newDir(t)
			s := openStore(t, dir)
			must(t, beginAs(s, "s"))
			told := watchElection(t, s, "e")
			untilToken(t, told, 1)
			must(t, remove(dir))
			got := until(t, told, func(d delivery) bool { return d.err != nil })
			if errors.Is(got.err, tenure.ErrPermanent) {
				t.Errorf("told: %v", got.err)
			}
			again := openStore(t, dir)
			if d := until(t, told, func(d delivery) bool { return d.err == nil }); what != "one directory removed" &&
				d.snapshot.Exists() {
				t.Errorf("the new store holds %+v", d.snapshot)
			}
			next, err := begin(again, "e", "t")
			must(t, err)
			untilToken(t, told, next.Record.Token)
		})
	}
}

func TestWatchOfADamagedFile(t *testing.T) {
	s := openStore(t, newDir(t))
	must(t, beginAs(s, "s"))
	path := s.layout.record("e")
	text, err := os.ReadFile(path)
	must(t, err)
	told := watchElection(t, s, "e")
	untilToken(t, told, 1)
	must(t, os.WriteFile(path+".x", []byte("{"), 0o600))
	must(t, os.Rename(path+".x", path))
	got := until(t, told, func(d delivery) bool { return d.err != nil })
	if !errors.Is(got.err, tenure.ErrPermanent) || !strings.Contains(got.err.Error(), path) {
		t.Errorf("told: %v", got.err)
	}
	// Repaired in place, which inotify is not asked about.
	must(t, os.WriteFile(path, text, 0o600))
	untilToken(t, told, 1)
}

func TestParse(t *testing.T) {
	n := &notifier{terms: 3}
	buffer := append(rawEvent(2, syscall.IN_MOVED_TO, "e.json"), rawEvent(2, syscall.IN_DELETE, "e.12.tmp")...)
	buffer = append(buffer, rawEvent(3, syscall.IN_CLOSE_WRITE, "e.s.1.ab.lock")...)
	buffer = append(buffer, rawEvent(-1, syscall.IN_Q_OVERFLOW, "")...)
	got, err := n.parse(buffer)
	want := []event{{name: "e.json"}, {name: "e.s.1.ab.lock", closed: true}, {overflow: true}}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("parsed %+v, %v, want %+v", got, err, want)
	}
	for _, mask := range []uint32{syscall.IN_DELETE_SELF, syscall.IN_MOVE_SELF, syscall.IN_UNMOUNT, syscall.IN_IGNORED} {
		if _, err := n.parse(rawEvent(1, mask, "")); err == nil {
			t.Errorf("mask %#x is no end", mask)
		}
	}
}

func rawEvent(wd int32, mask uint32, name string) []byte {
	padded := make([]byte, (len(name)+16)&^15)
	copy(padded, name)
	buffer := binary.NativeEndian.AppendUint32(nil, uint32(wd))
	for _, field := range []uint32{mask, 0, uint32(len(padded))} {
		buffer = binary.NativeEndian.AppendUint32(buffer, field)
	}
	return append(buffer, padded...)
}
