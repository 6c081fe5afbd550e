package demo

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
)

// process is one life of a node.
type process struct {
	cmd    *exec.Cmd
	orders io.WriteCloser
	stderr tail
}

// message is what a process has to say: a report or, last, that it is gone.
type message struct {
	from *process
	report
	gone bool
	err  error
	then func() // of no process, but to be called
}

// launch starts a node. What it reports goes to deliver, from another goroutine; the last message says that it is gone.
// A process may be returned together with an error.
func launch(program []string, t task, deliver func(message)) (*process, error) {
	p := &process{cmd: exec.Command(program[0], program[1:]...)}
	p.cmd.Stderr = &p.stderr
	setApart(p.cmd)
	orders, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("demo: making a pipe: %w", err)
	}
	p.orders = orders
	reports, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("demo: making a pipe: %w", err)
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("demo: starting %s: %w", t.ID, err)
	}
	go p.relay(reports, deliver)
	line, err := json.Marshal(t)
	if err == nil {
		_, err = orders.Write(append(line, '\n'))
	}
	if err != nil {
		_ = p.kill() // it may be gone already
		return p, fmt.Errorf("demo: telling %s its task: %w", t.ID, err)
	}
	return p, nil
}

// relay passes on all that the process reports, and that it is gone.
func (p *process) relay(reports io.Reader, deliver func(message)) {
	lines := bufio.NewScanner(reports)
	for lines.Scan() {
		m := message{from: p}
		// A line that was cut off by a kill is none.
		if json.Unmarshal(lines.Bytes(), &m.report) == nil {
			deliver(m)
		}
	}
	err := p.cmd.Wait()
	_ = p.orders.Close()
	if text := p.stderr.String(); err != nil && text != "" {
		err = fmt.Errorf("%w: %s", err, text)
	}
	deliver(message{from: p, gone: true, err: err})
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func (p *process) kill() error   { return p.cmd.Process.Kill() }
func (p *process) freeze() error { return freeze(p.cmd.Process) }
func (p *process) thaw() error   { return thaw(p.cmd.Process) }

// stop asks the process to leave in an orderly way. The pipe stays open: its end means that the demo is dead.
func (p *process) stop() error {
	_, err := io.WriteString(p.orders, stopOrder+"\n")
	return err
}

// tail keeps the last line or so of what a process complains about.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

const keptComplaint = 400

func (t *tail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, text...)
	if over := len(t.kept) - keptComplaint; over > 0 {
		t.kept = t.kept[over:]
	}
	return len(text), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(strings.Fields(string(bytes.ToValidUTF8(t.kept, nil))), " ")
}
