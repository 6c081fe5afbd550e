package guard_test

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tenure-go/tenure/cmd/tenure/internal/guard"
)

// openTerminal returns both ends of a new pseudo-terminal.
func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slave.Close() })
	return master, slave
}

// The command reads the terminal without being stopped for it, and Ctrl-C is the supervisor's alone.
func TestTerminal(t *testing.T) {
	master, slave := openTerminal(t)
	s := newSupervisor(t, plan{Worker: worker{Name: "command", Ignore: true, Echo: true}})
	s.cmd.ExtraFiles = []*os.File{slave}
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	s.start()
	lines := make(chan string, 100)
	go func() {
		for scanner := bufio.NewScanner(master); scanner.Scan(); {
			lines <- strings.TrimSpace(scanner.Text())
		}
	}()
	if _, err := master.WriteString("hello\n"); err != nil {
		t.Fatal(err)
	}
	for line := ""; line != "echo of hello"; {
		select {
		case line = <-lines:
		case <-time.After(patience):
			t.Fatal("the command does not answer on the terminal")
		}
	}
	const interrupt = "\x03"
	if _, err := master.WriteString(interrupt); err != nil {
		t.Fatal(err)
	}
	s.expect("interrupted")
	s.do(request{Do: "signal", Signal: syscall.SIGUSR1})
	eventually(t, "the signal after Ctrl-C", func() bool { return len(notedSignals(t, s.plan.Dir, "command")) > 0 })
	if got := notedSignals(t, s.plan.Dir, "command"); got[0].sig != syscall.SIGUSR1 {
		t.Errorf("the command got %v, want nothing of Ctrl-C", got)
	}
	s.do(request{Do: "kill"})
	s.checkEnded(guard.CauseAsked, syscall.SIGKILL)
}
