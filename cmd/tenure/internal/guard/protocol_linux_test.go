package guard

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// These tests speak to the guard process directly, so that what it does does not depend on who is faster.

// rawGuard is a guard process without a supervisor behind it.
type rawGuard struct {
	t       *testing.T
	cmd     *exec.Cmd
	orders  *os.File
	reports *json.Decoder
}

func startRawGuard(t *testing.T, before func(orders *os.File), command ...string) *rawGuard {
	t.Helper()
	orders, ordersOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	reportsIn, reports, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	before(ordersOut)
	cmd := guardProcess("/proc/self/exe", Options{Command: command, Stderr: os.Stderr}, orders, reports)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	orders.Close()
	reports.Close()
	t.Cleanup(func() {
		ordersOut.Close()
		reportsIn.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return &rawGuard{t, cmd, ordersOut, json.NewDecoder(reportsIn)}
}

func write(t *testing.T, file *os.File, message any) {
	t.Helper()
	if err := json.NewEncoder(file).Encode(message); err != nil {
		t.Fatal(err)
	}
}

// next returns the next report.
func (g *rawGuard) next() report {
	g.t.Helper()
	var r report
	if err := g.reports.Decode(&r); err != nil {
		g.t.Fatalf("the guard ended: %v", err)
	}
	return r
}

// ended waits for the end of the guard process and returns the reports until then.
func (g *rawGuard) ended() (all []report) {
	for {
		var r report
		if g.reports.Decode(&r) != nil {
			return all
		}
		all = append(all, r)
	}
}

func begin() order {
	far := Now().Add(time.Minute)
	return order{Kind: orderBegin, Signal: syscall.SIGTERM, Deadlines: Deadlines{far, far}}
}

func kinds(reports []report) (all string) {
	for _, r := range reports {
		all += string(r.Kind) + " "
	}
	return strings.TrimSpace(all)
}

func TestNoCommandWithoutSupervisor(t *testing.T) {
	for name, before := range map[string]func(orders *os.File){
		"it died before the order": func(orders *os.File) { orders.Close() },
		"it died after the order": func(orders *os.File) {
			write(t, orders, begin())
			orders.Close()
		},
		"it wrote no order to begin": func(orders *os.File) {
			write(t, orders, order{Kind: orderExtend, Deadlines: begin().Deadlines})
		},
		"it wrote nonsense": func(orders *os.File) { write(t, orders, "begin, please") },
	} {
		t.Run(name, func(t *testing.T) {
			ran := filepath.Join(t.TempDir(), "ran")
			g := startRawGuard(t, before, "/bin/sh", "-c", "echo > "+ran)
			if got := kinds(g.ended()); strings.Contains(got, string(reportStarted)) {
				t.Errorf("the guard reports: %s", got)
			}
			if _, err := os.Stat(ran); err == nil {
				t.Error("the command ran")
			}
		})
	}
}

func TestDeadlineBeforeTheStart(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	g := startRawGuard(t, func(orders *os.File) {
		late := begin()
		late.Deadlines.SignalAt = Now()
		write(t, orders, late)
	}, "/bin/sh", "-c", "echo > "+ran)
	reports := g.ended()
	if got := kinds(reports); got != "refused ended" || reports[0].Cause != CauseDeadline {
		t.Errorf("the guard reports: %+v, want that it refused because of the deadline", reports)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the command ran")
	}
}

// What cannot be understood is no reason to let the command run on.
func TestNonsenseEndsTheGroup(t *testing.T) {
	g := startRawGuard(t, func(orders *os.File) { write(t, orders, begin()) }, "/bin/sleep", "60")
	if r := g.next(); r.Kind != reportStarted {
		t.Fatalf("the guard reports %+v", r)
	}
	write(t, g.orders, "please go on")
	reports := g.ended()
	if kinds(reports) != "ending exited ended" || reports[0].Cause != CauseAbandoned ||
		reports[1].Signal != syscall.SIGKILL {
		t.Errorf("the guard reports: %+v, want an abandoned group that was killed", reports)
	}
}

// Orphans that end while the command runs do not pile up as zombies.
func TestOrphansAreBuried(t *testing.T) {
	g := startRawGuard(t, func(orders *os.File) { write(t, orders, begin()) },
		"/bin/sh", "-c", "for i in 1 2 3 4 5; do (sleep 0.01 &); done; exec sleep 60")
	started := g.next()
	time.Sleep(50 * time.Millisecond) // so that there are orphans; with fewer the test only tests less
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		all := below(processes(), func(p process) bool { return p.parent == g.cmd.Process.Pid })
		if len(all) == 1 && all[0].pid == started.PID {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("below the guard: %+v", all)
		}
	}
	write(t, g.orders, order{Kind: orderKill})
	if got := kinds(g.ended()); got != "ending exited ended" {
		t.Errorf("the guard reports: %s", got)
	}
}

func TestGuardIsForInternalUse(t *testing.T) {
	out, err := exec.Command("/proc/self/exe", argument, "/bin/true").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "internal use") {
		t.Errorf("error %v, output %q", err, out)
	}
}

// A program that forgot to call Main would start itself over and over.
func TestStartWithoutMain(t *testing.T) {
	defer func(called bool) { mainCalled = called }(mainCalled)
	mainCalled = false
	far := begin().Deadlines
	if _, err := Start(t.Context(), Options{Command: []string{"/bin/true"}, Deadlines: far}); err == nil {
		t.Error("a program that does not call Main started itself")
	}
}
