package testserver

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestMain is a server itself, with a child that is one too, if the test started it as such, or draws ports.
func TestMain(m *testing.M) {
	if os.Getenv("TESTSERVER_DRAW") != "" {
		draw()
	}
	if addr := os.Getenv("TESTSERVER_SERVE"); addr != "" {
		serve(addr)
	}
	os.Exit(m.Run())
}

// ballast makes the end of a child take its time: the kernel has to give all of it back.
var ballast []byte

func serve(addrs string) {
	addr, rest, more := strings.Cut(addrs, ",")
	if !more {
		ballast = bytes.Repeat([]byte{1}, 256<<20)
	}
	if more {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "TESTSERVER_SERVE="+rest)
		if err := child.Start(); err != nil {
			panic(err)
		}
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		panic(err)
	}
	fmt.Println("serving", addr)
	for {
		conn, err := listener.Accept()
		if err != nil {
			panic(err)
		}
		fmt.Fprintln(conn, os.Getpid(), os.Getuid())
		conn.Close()
	}
}

// portsDrawn is how many ports a process draws: more than one block of them.
const portsDrawn = 3 * blockSize

// draw prints ports, and stays until its input ends.
func draw() {
	for range portsDrawn {
		port, err := freePort()
		if err != nil {
			panic(err)
		}
		fmt.Println(port)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// Servers bind their ports some time after they were drawn, and again after a stop: nobody else may have them.
func TestNoTwoProcessesDrawTheSamePort(t *testing.T) {
	drawnBy := map[string]int{}
	for process := range 4 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "TESTSERVER_DRAW=1")
		cmd.Stderr = os.Stderr
		stay, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { stay.Close(); cmd.Wait() })
		lines := bufio.NewScanner(out)
		for range portsDrawn {
			if !lines.Scan() {
				t.Fatalf("process %d has printed too few ports: %v", process, lines.Err())
			}
			if other, twice := drawnBy[lines.Text()]; twice {
				t.Errorf("the processes %d and %d have drawn port %s", other, process, lines.Text())
			}
			drawnBy[lines.Text()] = process
		}
	}
}

// startPair runs a server whose child is another one.
func startPair(t *testing.T) (p *Process, parent, child string) {
	t.Helper()
	parent, child = Addr(Port(t)), Addr(Port(t))
	return Start(t, Command{
		Program: os.Args[0],
		Env:     []string{"TESTSERVER_SERVE=" + parent + "," + child},
		Ready:   func(ctx context.Context) error { return errors.Join(Dial(parent)(ctx), Dial(child)(ctx)) },
	}), parent, child
}

// answer asks a server for its process ID and user, and waits that long for them. The kernel alone makes the connection.
func answer(addr string, wait time.Duration) (pid, uid int, err error) {
	conn, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return 0, 0, err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(wait))
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return 0, 0, err
	}
	_, err = fmt.Sscan(line, &pid, &uid)
	return pid, uid, err
}

func mustAnswer(t *testing.T, addr string) int {
	t.Helper()
	pid, _, err := answer(addr, patience)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func TestStartStopAndStartAgain(t *testing.T) {
	p, parent, _ := startPair(t)
	if got := mustAnswer(t, parent); got != p.PID() {
		t.Errorf("process %d answers, want %d", got, p.PID())
	}
	p.Kill()
	if _, _, err := answer(parent, time.Second); err == nil {
		t.Error("a killed server answers")
	}
	p.Start()
	mustAnswer(t, parent)
	if log := p.Log(); strings.Count(log, "serving "+parent) != 2 {
		t.Errorf("the log is %q, want two starts", log)
	}
}

func TestKillReachesChildren(t *testing.T) {
	p, _, child := startPair(t)
	pid := mustAnswer(t, child)
	p.Kill()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid)) // the first may end before the others
	if err == nil && (!strings.Contains(string(stat), ") Z ") || len(threads) > 1) {
		t.Errorf("the child outlives the kill, with %d threads: %s", len(threads), stat)
	}
}

func TestFreezeReachesChildrenAndEndsWithThaw(t *testing.T) {
	p, parent, child := startPair(t)
	p.Freeze()
	for _, addr := range []string{parent, child} {
		if _, _, err := answer(addr, 50*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a frozen server answers with %v, want silence", err)
		}
	}
	p.Thaw()
	mustAnswer(t, parent)
	mustAnswer(t, child)
}

func TestStopEndsAFrozenServer(t *testing.T) {
	addr := Addr(Port(t))
	p := Start(t, Command{Program: os.Args[0], Env: []string{"TESTSERVER_SERVE=" + addr}, Ready: Dial(addr)})
	p.Freeze()
	p.Stop()
	if _, _, err := answer(addr, time.Second); err == nil {
		t.Error("a stopped server answers")
	}
}

// What a run leaves to another one is skipped, even if it is there, and even where servers are needed.
func TestFindLeavesServersToAnotherRun(t *testing.T) {
	t.Setenv("TENURE_SERVER_NATS_SERVER", os.Args[0])
	t.Setenv("TENURE_NEED_SERVERS", "1")
	for servers, skipped := range map[string]bool{"": true, "redis-server": true, "redis-server nats-server": false} {
		t.Setenv("TENURE_SERVERS", servers)
		r := &recorder{TB: t}
		if Find(r, "nats-server"); r.failed || strings.Contains(r.said, "make test-all") != skipped {
			t.Errorf("of %q: failed %v, said %q", servers, r.failed, r.said)
		}
	}
}

func TestFind(t *testing.T) {
	t.Setenv("TENURE_SERVERS", "nats-server")
	t.Setenv("TENURE_SERVER_NATS_SERVER", os.Args[0])
	if got := Find(t, "nats-server"); got != os.Args[0] {
		t.Errorf("found %q, want what the variable names", got)
	}
	t.Setenv("TENURE_SERVER_NATS_SERVER", "")
	t.Setenv("TENURE_CACHE", t.TempDir())
	for _, needed := range []string{"", "1"} {
		t.Setenv("TENURE_NEED_SERVERS", needed)
		r := &recorder{TB: t}
		Find(r, "nats-server")
		if r.failed != (needed != "") || !strings.Contains(r.said, "bash .ci/servers nats-server") {
			t.Errorf("needed %q: failed %v, said %q", needed, r.failed, r.said)
		}
	}
}
