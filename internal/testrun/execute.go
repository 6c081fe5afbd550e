package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// How many tests of a package that may run beside each other do so, for each processor.
const parallel = 3

// A package's tests are ended with a dump of their goroutines after so long, or killed after a minute more.
const timeout = 30 * time.Minute

// execution is what all packages of a run are tested with.
type execution struct {
	options
	test2json string   // the path of Go's program
	env       []string // of the tests
	stalls    stalls   // of the tests
}

// all runs compiled tests, as many packages at once as told, begins them in the order given, and calls done after each.
// It begins no more once ctx has ended, which ends those that run.
func (x execution) all(ctx context.Context, bs []batch, jobs []job, atOnce int, done func(result)) {
	binaries := map[string]string{}
	for _, b := range bs {
		for _, j := range b.jobs {
			binaries[j.dir] = b.binary(j)
		}
	}
	queue := make(chan job)
	var workers sync.WaitGroup
	var mu sync.Mutex
	for range atOnce {
		workers.Go(func() {
			for j := range queue {
				r := x.one(ctx, j, binaries[j.dir])
				mu.Lock()
				done(r)
				mu.Unlock()
			}
		})
	}
	for _, j := range jobs {
		if ctx.Err() == nil {
			queue <- j
		}
	}
	close(queue)
	workers.Wait()
}

// one runs the tests of a package.
func (x execution) one(ctx context.Context, j job, binary string) result {
	r := result{job: j}
	if _, err := os.Stat(binary); err != nil {
		r.err = fmt.Errorf("it does not compile")
		return r
	}
	defer func() { _ = os.Remove(binary) }() // they are large
	ctx, cancel := context.WithTimeout(ctx, timeout+time.Minute)
	defer cancel()
	tests := exec.CommandContext(ctx, binary, x.flags(j)...)
	tests.Dir, tests.Env = j.abs, slices.Concat(x.env, []string{"PWD=" + j.abs})
	convert := exec.Command(x.test2json, "-t", "-p", j.path)
	convert.Stderr = os.Stderr
	began := time.Now()
	r.err = x.piped(tests, convert, r.read)
	r.wall = time.Since(began)
	if s := tests.ProcessState; s != nil {
		r.cpu = s.UserTime() + s.SystemTime()
	}
	return r
}

func (x execution) flags(j job) []string {
	flags := []string{
		"-test.v=test2json", "-test.paniconexit0", "-test.timeout=" + timeout.String(),
		"-test.parallel=" + strconv.Itoa(parallel*runtime.NumCPU()),
	}
	if j.short {
		flags = append(flags, "-test.short")
	}
	if x.run != "" {
		flags = append(flags, "-test.run="+x.run)
	}
	return flags
}

// piped runs tests, and passes what they print through the converter to read. A process that the tests leave behind may
// hold their output open; it is not waited for.
func (x execution) piped(tests, convert *exec.Cmd, read func(events io.Reader)) error {
	out, in, err := os.Pipe()
	if err != nil {
		return err
	}
	events, converted, err := os.Pipe()
	if err != nil {
		return err
	}
	tests.Stdout, tests.Stderr = in, in
	convert.Stdin, convert.Stdout = out, converted
	if err := convert.Start(); err != nil {
		return err
	}
	err = tests.Start()
	in.Close()
	out.Close()
	converted.Close()
	var reading sync.WaitGroup
	reading.Go(func() { read(events) })
	if err == nil {
		end := x.stalls.on(tests.Process)
		err = tests.Wait()
		end()
	}
	late := time.AfterFunc(10*time.Second, func() { _ = convert.Process.Kill() })
	converts := convert.Wait()
	if !late.Stop() {
		converts = fmt.Errorf("a process that it has left behind holds its output open")
	}
	reading.Wait()
	events.Close()
	if err == nil {
		err = converts
	}
	return err
}

// environment is that of the tests. A run of everything uses those servers alone that it is for, so that the same tests
// run everywhere. One directory is tested with whatever there is.
func (o options) environment(servers []string) []string {
	if o.dir != "" {
		return os.Environ()
	}
	return append(os.Environ(), "TENURE_SERVERS="+strings.Join(servers, " "))
}
