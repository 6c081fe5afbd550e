//go:build linux

package worker

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/integration/internal/check"
	"github.com/tenure-go/tenure/integration/internal/history"
	"github.com/tenure-go/tenure/integration/internal/register"
	"github.com/tenure-go/tenure/internal/storetest"
	"github.com/tenure-go/tenure/memory"
)

func TestMain(m *testing.M) {
	if Wanted() {
		os.Exit(Main())
	}
	os.Exit(m.Run())
}

// A command that did not run for a moment claims nothing until it has run for a while.
func TestVigil(t *testing.T) {
	now := history.Instant(time.Hour)
	var v vigil
	run := func(d time.Duration) (sure bool) {
		for end := now.Add(d); now < end; now = now.Add(askEvery) {
			sure = v.sure(now)
		}
		return sure
	}
	if !run(time.Second) {
		t.Error("a command that runs is not sure")
	}
	now = now.Add(2 * unaware)
	if run(settled / 2) {
		t.Error("it is sure soon after it did not run")
	}
	if !run(2 * settled) {
		t.Error("it is not sure although it has run for a while since")
	}
	for range 10 { // it is given a moment now and then
		now = now.Add(2 * unaware)
		if run(2 * askEvery) {
			t.Fatal("it is sure although it hardly runs")
		}
	}
}

// A command that is started again within a term claims to be trusted, as the one before it did.
func TestACommandThatIsStartedAgainClaimsItsTerm(t *testing.T) {
	dir := t.TempDir()
	nemesis, err := history.Create(dir, "nemesis", 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := nemesis.Write(history.Event{Run: &history.Run{TTL: time.Second}}); err != nil {
		t.Fatal(err)
	}
	registers, err := register.Serve(false)
	if err != nil {
		t.Fatal(err)
	}
	defer registers.Close()
	for i := range 2 {
		live(t, &Config{Command: true, Dir: dir, Name: "a", Life: 1, Register: registers.Addr()}, i+1, registers)
	}
	events, err := history.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	result, err := check.Check(events, check.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"one-leader", "rising-tokens", "lost-is-lost", "register", "counter"} {
		if row := result.Row(id); row.Verdict != check.Held {
			t.Errorf("%s: %s, %s %v", id, row.Verdict, row.Note, row.Findings)
		}
	}
	terms := result.Run.Terms
	if len(terms) != 2 || len(terms[1].Spans) != 1 || terms[1].Before != terms[0] {
		t.Errorf("the lives had the terms %+v", terms)
	}
}

// live is a life of the command under a supervisor that leads with token 7, until it has written something and was
// certainly trusted for a while.
func live(t *testing.T, c *Config, life int, registers *register.Server) {
	t.Helper()
	_, written := registers.Last()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), c.Environment(), "TENURE_TOKEN=7")
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-written
	storetest.Eventually(t, "the command claims to be trusted", func() bool { return claims(t, c.Dir, life) })
	if err := errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait()); err != nil {
		t.Fatal(err)
	}
}

// claims tells whether a life has written down that it was trusted.
func claims(t *testing.T, dir string, life int) bool {
	t.Helper()
	events, err := history.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(events, func(e history.Event) bool { return e.Trust != nil && e.Life == life })
}

func TestClockOfItsOwn(t *testing.T) {
	c := newClock(0.5)
	began := time.Now()
	_, before := c.read()
	c.move(time.Hour)
	mono, wall := c.read()
	if passed := time.Since(began); wall-before < time.Hour || wall-before > time.Hour+passed {
		t.Errorf("the wall clock has moved by %v, of which %v have passed", wall-before, passed)
	}
	if passed := time.Since(c.since); mono <= 0 || mono > passed/2 {
		t.Errorf("the clock shows %v after %v at half the rate", mono, passed)
	}
	c.run(1000)
	time.Sleep(time.Millisecond) // a second, for this clock
	if later, _ := c.read(); later < mono+time.Second {
		t.Errorf("the clock went from %v to %v in a millisecond at a thousand times the rate", mono, later)
	}
}

// The store that swaps blindly has to do so, or the runs with it would show nothing.
func TestBlindStoreLosesAWrite(t *testing.T) { synctest.Test(t, losesAWrite) }

func losesAWrite(t *testing.T) {
	m := memory.New()
	swap := func(s tenure.Store, old tenure.Version, session string) (tenure.Snapshot, error) {
		return s.CompareAndSwap(context.Background(), "e", old, tenure.Record{
			Token: 1, Leader: session, Session: session, TTL: time.Second, Renewals: 1,
		})
	}
	done := make(chan error)
	go func() {
		_, err := swap(blind{m}, "", "blind")
		done <- err
	}()
	synctest.Wait() // it has compared, and waits for an eighth of the TTL
	if _, err := swap(m, "", "other"); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if s, err := m.Load(t.Context(), "e"); err != nil || s.Record.Session != "blind" {
		t.Errorf("the record is %+v, %v", s.Record, err)
	}
	if _, err := swap(blind{m}, "", "late"); !errors.Is(err, tenure.ErrConflict) {
		t.Errorf("a version that is gone at once: %v", err)
	}
}

func TestStoresKeepWhatTheyCanDo(t *testing.T) {
	m := memory.New()
	requests, store := count(m, m)
	if _, pushes := store.(tenure.Watcher); !pushes {
		t.Error("a counted store does not push any more")
	}
	if _, err := store.Load(t.Context(), "e"); err != nil {
		t.Fatal(err)
	}
	if _, err := store.CompareAndSwap(t.Context(), "e", "wrong", tenure.Record{}); err == nil {
		t.Error("a wrong version was taken")
	}
	if got := *requests.requests(); got.Loads != 1 || got.Swaps != 1 || got.Failed != 0 {
		t.Errorf("counted %+v", got)
	}
	if _, store = count(blind{m}, nil); store == nil {
		t.Error("no store")
	} else if _, pushes := store.(tenure.Watcher); pushes {
		t.Error("a store pushes that is not to")
	}
}

// quiet is what is held once nothing of the tests before is ending any more.
func quiet() holding {
	for {
		now := held()
		time.Sleep(50 * time.Millisecond)
		if held() == now {
			return now
		}
	}
}

func TestWhatIsLeftBehindIsFound(t *testing.T) {
	before := quiet()
	if err := leftBehind(before); err != nil {
		t.Errorf("nothing is left behind: %v", err)
	}
	stop := make(chan struct{})
	defer close(stop)
	for range afterwards + 1 {
		go func() { <-stop }()
	}
	if leftBehind(before) == nil {
		t.Error("goroutines that are left behind are not found")
	}
}
