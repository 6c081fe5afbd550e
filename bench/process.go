package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// LeadCommand is the first argument with which [Run] starts its own program to have a process lead.
const LeadCommand = "lead"

// Process is a process of this program that leads.
type Process struct {
	cmd    *exec.Cmd
	input  io.Closer
	killed sync.Once
}

// StartLeader starts this program again with arguments, and returns when it has printed that it [Leads]. The end of its
// input, with this process at the latest, should end it.
func StartLeader(ctx context.Context, args ...string) (*Process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stderr = os.Stderr
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	l := &Process{cmd: cmd, input: input}
	if err := awaitLine(ctx, output); err != nil {
		l.Kill()
		return nil, fmt.Errorf("a process that leads: %w", err)
	}
	return l, nil
}

func awaitLine(ctx context.Context, output io.Reader) error {
	line := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(output).ReadString('\n')
		line <- strings.TrimSpace(text)
	}()
	select {
	case text := <-line:
		if text != Leads {
			return fmt.Errorf("it printed %q", text)
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(patience):
		return errors.New("it did not lead in time")
	}
}

// Kill ends the process as no signal handler can prevent.
func (l *Process) Kill() {
	l.killed.Do(func() {
		_ = l.cmd.Process.Kill()
		_ = l.cmd.Wait()
		_ = l.input.Close()
	})
}
