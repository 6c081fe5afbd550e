//go:build linux

package crew

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/tenure-go/tenure/integration/internal/beds"
	"github.com/tenure-go/tenure/integration/internal/worker"
)

const (
	// patience bounds how long a process may take to end when it is told to.
	patience = 60 * time.Second
	// answerWithin bounds how long it may take to answer an order.
	answerWithin = 15 * time.Second
	// pause is that before a process that ended by itself is started again.
	pause = time.Second
)

// Candidate is one candidate: a process of the library, or tenure run with a command under it. Its methods are safe for
// concurrent use.
type Candidate struct {
	// Name is its ID in the election and its name in histories.
	Name string
	// Supervised tells that it is tenure run.
	Supervised bool
	// Movable tells that its wall clock can be moved.
	Movable bool
	Line    *beds.Line
	Group   *Group

	config  worker.Config
	program string // of tenure, if it is supervised
	env     []string
	log     io.Writer

	mu      sync.Mutex
	life    int
	process *process // nil while none runs
	wanted  bool     // it is started again when it ends
	done    bool
}

// process is one life.
type process struct {
	cmd     *exec.Cmd
	orders  io.WriteCloser
	answers chan string
	ended   chan struct{}
}

// New returns a candidate that does not run yet. program is that of tenure; it is empty for one of the library.
func New(config worker.Config, line *beds.Line, group *Group, program string, env []string, log io.Writer) *Candidate {
	config.URL, config.Command = line.URL, program != ""
	return &Candidate{
		Name: config.Name, Supervised: program != "", Movable: config.Rate != 0 && program == "", Line: line, Group: group,
		config: config, program: program, env: env, log: log,
	}
}

// Start begins a life, and keeps the candidate alive from now on.
func (c *Candidate) Start() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wanted = true
	return c.start()
}

func (c *Candidate) start() error {
	if c.process != nil || !c.wanted || c.done {
		return nil
	}
	c.life++
	p, err := c.launch()
	if err != nil {
		return fmt.Errorf("start %s: %w", c.Name, err)
	}
	c.process = p
	go c.revive(p)
	if err := c.Group.add(p.cmd.Process.Pid); !errors.Is(err, syscall.ESRCH) { // it may have ended already
		return err
	}
	return nil
}

// revive starts the next life when one has ended although the candidate is wanted.
func (c *Candidate) revive(p *process) {
	<-p.ended
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process == p {
		c.process = nil
	}
	if !c.wanted || c.done {
		return
	}
	fmt.Fprintf(c.log, "%s ended by itself: %v\n", c.Name, p.cmd.ProcessState)
	time.AfterFunc(pause, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if err := c.start(); err != nil {
			fmt.Fprintln(c.log, err)
		}
	})
}

// launch starts a process in the candidate's network, from a thread that lives as long as it does: the signal that ends
// it when this process dies is tied to the thread that forked it.
func (c *Candidate) launch() (*process, error) {
	cmd, err := c.command()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, answers: make(chan string, 8), ended: make(chan struct{})}
	var answers io.ReadCloser
	if !c.Supervised {
		if p.orders, err = cmd.StdinPipe(); err != nil {
			return nil, err
		}
		if answers, err = cmd.StdoutPipe(); err != nil {
			return nil, err
		}
	}
	stderr, err := os.OpenFile(filepath.Join(c.config.Dir, c.Name+".stderr"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	cmd.Stderr = stderr
	started := make(chan error)
	c.Line.Network.Go(func(err error) {
		defer stderr.Close()
		defer close(p.ended)
		if err == nil {
			err = cmd.Start()
		}
		started <- err
		if err != nil {
			return
		}
		if answers != nil {
			for lines := bufio.NewScanner(answers); lines.Scan(); {
				p.answers <- lines.Text()
			}
		}
		_ = cmd.Wait() // how it ended is in its state
	})
	return p, <-started
}

func (c *Candidate) command() (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	config := c.config
	config.Life = c.life
	config.AskGrade = c.life == 1 // later a fault may be in force, about which it would tell
	cmd := exec.Command(self)
	if c.Supervised {
		cmd = exec.Command(c.program, "run", "--election", config.Election, "--ttl", config.TTL.String(),
			"--restart", "always", "--restart-delay", "100ms", "--", self)
	}
	cmd.Env = append(os.Environ(), c.env...)
	cmd.Env = append(cmd.Env, config.Environment(), "TENURE_STORE="+config.URL, "TENURE_ID="+c.Name, "TENURE_VERBOSE=true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	return cmd, nil
}

// current returns the process that runs, an error if none does.
func (c *Candidate) current() (*process, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process == nil {
		return nil, fmt.Errorf("%s does not run", c.Name)
	}
	return c.process, nil
}

// PID is that of the process, of tenure if it is supervised, 0 while none runs.
func (c *Candidate) PID() int {
	p, err := c.current()
	if err != nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// Kill ends the process as no handler can prevent, and returns once it has ended. It stays down until Start.
func (c *Candidate) Kill() error {
	c.mu.Lock()
	c.wanted = false
	p := c.process
	c.mu.Unlock()
	if p == nil {
		return nil
	}
	return c.end(p, syscall.SIGKILL)
}

// Stop tells the process to end, and returns once it has. The candidate is done for good.
func (c *Candidate) Stop() error {
	c.mu.Lock()
	c.wanted, c.done = false, true
	p := c.process
	c.mu.Unlock()
	if p == nil {
		return nil
	}
	return c.end(p, syscall.SIGTERM)
}

func (c *Candidate) end(p *process, sig syscall.Signal) error {
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.ended:
	case <-time.After(patience):
		_ = p.cmd.Process.Kill()
		<-p.ended
		return fmt.Errorf("%s did not end within %v and was killed", c.Name, patience)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process == p {
		c.process = nil
	}
	return nil
}

// Order has a candidate of the library do something, and returns what it answers.
func (c *Candidate) Order(order string) (string, error) {
	p, err := c.current()
	switch {
	case err != nil:
		return "", err
	case p.orders == nil:
		return "", fmt.Errorf("%s takes no orders", c.Name)
	}
	if _, err := fmt.Fprintln(p.orders, order); err != nil {
		return "", err
	}
	select {
	case answer := <-p.answers:
		return answer, nil
	case <-p.ended:
		return "", fmt.Errorf("%s ended before it answered", c.Name)
	case <-time.After(answerWithin):
		return "", fmt.Errorf("%s did not answer", c.Name)
	}
}
