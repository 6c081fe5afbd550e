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

// leader is a process that leads.
type leader struct {
	cmd    *exec.Cmd
	input  io.Closer
	killed sync.Once
}

// startLeader returns when the process leads.
func startLeader(ctx context.Context, bed, address, election string, ttl time.Duration) (*leader, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, LeadCommand, bed, address, election, ttl.String())
	cmd.Stderr = os.Stderr
	input, err := cmd.StdinPipe() // its end, with this process at the latest, ends the child
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
	l := &leader{cmd: cmd, input: input}
	if err := awaitLine(ctx, output); err != nil {
		l.kill()
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
		if text != leads {
			return fmt.Errorf("it printed %q", text)
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(patience):
		return errors.New("it did not lead in time")
	}
}

// kill ends the process as no signal handler can prevent.
func (l *leader) kill() {
	l.killed.Do(func() {
		_ = l.cmd.Process.Kill()
		_ = l.cmd.Wait()
		_ = l.input.Close()
	})
}
