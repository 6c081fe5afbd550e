package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"time"
)

// burn keeps a processor busy until the standard input ends, which it does with the process that started this one.
func burn() {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for { //nolint:staticcheck // to be busy is the purpose
	}
}

// burners starts so many processes that do nothing but burn.
func burners(n int) (stop func(), err error) {
	var ends []func()
	stop = func() {
		for _, end := range ends {
			end()
		}
	}
	self, err := os.Executable()
	if err != nil {
		return stop, err
	}
	for range n {
		cmd := exec.Command(self, "-as-burner")
		in, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			return stop, fmt.Errorf("a process that burns: %w", err)
		}
		ends = append(ends, func() {
			_ = in.Close()
			_ = cmd.Wait()
		})
	}
	return stop, nil
}

// stalls freeze a process again and again.
type stalls struct {
	every, most  time.Duration // how long it runs between two, on average, and how long it is frozen at most
	freeze, thaw func(*os.Process) error
}

// on stalls a process until it is told to end, and leaves it running.
func (s stalls) on(p *os.Process) (end func()) {
	if s.most == 0 {
		return func() {}
	}
	over := make(chan struct{})
	var stalling sync.WaitGroup
	stalling.Go(func() {
		for pause(over, time.Duration(rand.ExpFloat64()*float64(s.every))) {
			if s.freeze(p) != nil {
				return // it has ended
			}
			pause(over, rand.N(s.most))
			if s.thaw(p) != nil {
				return
			}
		}
	})
	return func() {
		close(over)
		stalling.Wait()
	}
}

// pause waits, and reports whether it was not told to stop before.
func pause(stop <-chan struct{}, d time.Duration) bool {
	select {
	case <-stop:
		return false
	case <-time.After(d):
		return true
	}
}
