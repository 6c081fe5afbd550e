package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// openTerminal returns both ends of a new terminal.
func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	t.Cleanup(func() { _ = master.Close() })
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
	t.Cleanup(func() { _ = slave.Close() })
	return master, slave
}

func TestForgetAsksAtATerminal(t *testing.T) {
	for _, c := range []struct {
		typed string
		code  int
	}{
		{"y\n", 0}, {"Yes\n", 0}, {"n\n", codeRefused}, {"\n", codeRefused}, {"maybe\n", codeRefused}, {"\x04", codeRefused},
	} {
		t.Run(fmt.Sprintf("%q", c.typed), func(t *testing.T) {
			p := newPlace(t)
			must(t, p.flag, "pause", "x")
			master, slave := openTerminal(t)
			if _, err := master.WriteString(c.typed); err != nil {
				t.Fatal(err)
			}
			var stdout, stderr bytes.Buffer
			code := conclude(&stderr, exec(t.Context(), []string{p.flag, "forget", "x"}, slave, &stdout, &stderr))
			if code != c.code || !strings.HasPrefix(stderr.String(), `Forget the election "x" (last token 0)? [y/N] `) {
				t.Errorf("exit code %d, want %d; it said %q", code, c.code, stderr.String())
			}
			if forgotten := p.load(t, "x").Forgotten; forgotten != (c.code == 0) {
				t.Errorf("forgotten: %v", forgotten)
			}
		})
	}
}

func TestColorOnlyWhereItIsWanted(t *testing.T) {
	p := newPlace(t)
	must(t, p.flag, "pause", "x")
	for _, c := range []struct {
		name, noColor, term string
		colored             bool
	}{
		{"terminal", "", "xterm", true}, {"NO_COLOR", "1", "xterm", false}, {"dumb terminal", "", "dumb", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("NO_COLOR", c.noColor)
			t.Setenv("TERM", c.term)
			master, slave := openTerminal(t)
			if err := exec(t.Context(), []string{p.flag, "status"}, strings.NewReader(""), slave, io.Discard); err != nil {
				t.Fatal(err)
			}
			text := make([]byte, 4096)
			_ = master.SetReadDeadline(time.Now().Add(patience))
			n, err := master.Read(text)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(string(text[:n]), "\x1b["); got != c.colored {
				t.Errorf("colored: %v, want %v: %q", got, c.colored, text[:n])
			}
		})
	}
	if got := must(t, p.flag, "status"); strings.Contains(got, "\x1b") {
		t.Errorf("got %q though it is no terminal", got)
	}
}
