//go:build linux

package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/integration/internal/beds"
	"github.com/tenure-go/tenure/integration/internal/check"
	"github.com/tenure-go/tenure/integration/internal/crew"
	"github.com/tenure-go/tenure/integration/internal/history"
	"github.com/tenure-go/tenure/integration/internal/nemesis"
	"github.com/tenure-go/tenure/integration/internal/network"
	"github.com/tenure-go/tenure/integration/internal/register"
	"github.com/tenure-go/tenure/integration/internal/worker"
	"github.com/tenure-go/tenure/internal/testserver"
)

const (
	election = "chaos"
	// nemesisName is under which the run itself writes.
	nemesisName = "nemesis"
	// historyDir is where histories are, within the directory of a run.
	historyDir = "history"
)

// Run makes a run and judges it. tb is what servers are started with. An error says that it could not be made or
// judged.
func Run(ctx context.Context, tb testserver.TB, o Options) (*check.Result, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	r := &run{Options: o, tb: tb, log: &syncWriter{to: o.Log}}
	if err := r.make(ctx); err != nil {
		return nil, err
	}
	return Judge(o.Dir)
}

// Judge judges a run by what it has left in its directory.
func Judge(dir string) (*check.Result, error) {
	events, err := history.ReadDir(filepath.Join(dir, historyDir))
	if err != nil {
		return nil, err
	}
	return check.Check(events, check.Options{AllowUndecided: undecided(events)})
}

// undecided are the rules that may stay so: not every store tells a grade, not in every run does a process lead often,
// whose end then tells alone what it leaves behind, and a short run may have no quiet moment.
func undecided(events []history.Event) []string {
	allowed := []string{"grade", "leaks"}
	first := slices.IndexFunc(events, func(e history.Event) bool { return e.Run != nil })
	if first >= 0 && events[first].Run.Lasts < time.Minute {
		allowed = append(allowed, "load", "recovery")
	}
	return allowed
}

// run is a run while it is made.
type run struct {
	Options

	tb         testserver.TB
	log        io.Writer
	server     *beds.Server
	store      *worker.Opened // the nemesis's own, without a proxy
	registers  *register.Server
	history    *history.Writer
	candidates []*crew.Candidate
	groups     []*crew.Group
	disk       *nemesis.Disk
	shared     error // why a candidate has no network of its own
	random     *rand.Rand
}

func (r *run) make(ctx context.Context) (err error) {
	r.random = rand.New(rand.NewPCG(r.Seed, 1))
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.prepare(ctx); err != nil {
		return err
	}
	scene := &nemesis.Scene{
		TTL: r.TTL, Server: r.server, Candidates: r.candidates, Registers: r.registers, Answers: r.answers, Disk: r.disk,
		Shared: r.shared, History: r.history, Log: r.log, Wiping: r.Unsafe == ForgetfulStore,
	}
	n, unfit := nemesis.New(scene, r.Faults, r.Seed)
	r.announce(n.Kinds(), unfit)
	if len(n.Kinds()) == 0 {
		return errors.New("no fault fits this store")
	}
	if err := r.history.Write(history.Event{Run: r.about(ctx, n.Kinds())}); err != nil {
		return err
	}
	finish := &history.Finish{}
	if problem := r.rage(ctx, scene, n); problem != nil {
		finish.Error = problem.Error()
	}
	return r.history.Write(history.Event{Finish: finish})
}

// rage starts the candidates, lets the nemesis rage among them, and stops them.
func (r *run) rage(ctx context.Context, scene *nemesis.Scene, n *nemesis.Nemesis) error {
	for _, c := range r.candidates {
		if err := c.Start(); err != nil {
			return err
		}
	}
	if err := n.Await(ctx); err != nil {
		return errors.Join(err, r.stop())
	}
	err := n.Rage(ctx, r.For)
	scene.Log = io.Discard
	return errors.Join(err, r.stop())
}

func (r *run) announce(kinds []string, unfit map[string]string) {
	fmt.Fprintf(r.log, "%s, seed %d, %v, %d candidates, TTL %v, in %s\nfaults: %s\n",
		r.Bed.Name, r.Seed, r.For, r.Candidates, r.TTL, r.Dir, strings.Join(kinds, ", "))
	var left []string
	for name, why := range unfit {
		left = append(left, fmt.Sprintf("  without %s: %s", name, why))
	}
	slices.Sort(left)
	for _, line := range left {
		fmt.Fprintln(r.log, line)
	}
}

func (r *run) prepare(ctx context.Context) (err error) {
	if err := os.MkdirAll(filepath.Join(r.Dir, historyDir), 0o755); err != nil {
		return err
	}
	if r.history, err = history.Create(filepath.Join(r.Dir, historyDir), nemesisName, 1); err != nil {
		return fmt.Errorf("%w; a run wants a directory of its own", err)
	}
	if r.registers, err = register.Serve(r.Unsafe == FenceOff); err != nil {
		return err
	}
	if r.Tenure == "" && !r.LibraryOnly {
		if r.Tenure, err = BuildTenure(ctx, r.Dir, r.Bed); err != nil {
			return err
		}
	}
	if err := r.startServer(ctx); err != nil {
		return err
	}
	return r.engage()
}

// startServer starts the server, with its files on a disk that can be made to hang if there can be one.
func (r *run) startServer(ctx context.Context) error {
	if slices.Contains(nemesis.Names(r.Faults), "disk") {
		r.useDisk()
	}
	var err error
	if r.server, err = r.Bed.Start(r.tb); err != nil {
		return fmt.Errorf("start the server of %s: %w", r.Bed.Name, err)
	}
	for _, setting := range r.server.Env {
		name, value, _ := strings.Cut(setting, "=")
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	opening, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if r.store, err = worker.Open(opening, r.server.URL(r.server.Addrs)); err != nil {
		return fmt.Errorf("open the store: %w", err)
	}
	return nil
}

// useDisk has all that is temporary from now on be on a disk of its own.
func (r *run) useDisk() {
	disk, err := nemesis.NewDisk()
	if err != nil {
		return // the fault is unfit, which is said
	}
	r.disk = disk
	old, was := os.LookupEnv("TMPDIR")
	_ = os.Setenv("TMPDIR", disk.Dir)
	r.tb.Cleanup(func() {
		if was {
			_ = os.Setenv("TMPDIR", old)
		} else {
			_ = os.Unsetenv("TMPDIR")
		}
		if err := disk.Remove(); err != nil {
			fmt.Fprintln(r.log, err)
		}
	})
}

// clockError is the largest error of a candidate's clock, below what candidates allow for.
const clockError = 0.009

// groups counts control groups, whose names must differ in runs of one process.
var groups atomic.Int64

// engage makes the candidates. Every second one is tenure run; of the others, every second has clocks of its own.
func (r *run) engage() error {
	for i := range r.Candidates {
		supervised := i%2 == 1 && !r.LibraryOnly
		n, registers, err := r.join()
		if err != nil {
			return err
		}
		config := worker.Config{
			Dir: filepath.Join(r.Dir, historyDir), Name: fmt.Sprintf("library-%d", i), Store: r.Bed.Name, Election: election,
			TTL: r.TTL, Register: registers,
		}
		rate := 1 + clockError*(2*r.random.Float64()-1)
		program := ""
		switch {
		case supervised:
			config.Name, program = fmt.Sprintf("run-%d", i), r.Tenure
		case i%4 == 2 || r.LibraryOnly && i%2 == 1:
			config.Rate = rate
		}
		r.unprotect(&config)
		group := crew.NewGroup(fmt.Sprintf("tenure-chaos-%d-%d", os.Getpid(), groups.Add(1)))
		r.groups = append(r.groups, group)
		line := r.server.Line(r.tb, n)
		r.candidates = append(r.candidates, crew.New(config, line, group, program, r.server.Env, r.log))
	}
	return nil
}

// join makes a candidate's network, if this system lets us make one and the store is reached by any, and returns where
// the registers are in it.
func (r *run) join() (n *network.Network, registers string, err error) {
	if len(r.server.Addrs) > 0 && r.shared == nil {
		n, r.shared = network.New() // what needs one is unfit without it, which is said
	}
	if n == nil {
		return nil, r.registers.Addr(), nil
	}
	r.tb.Cleanup(n.Close)
	listener, err := n.ListenNear()
	if err != nil {
		return nil, "", err
	}
	r.registers.Listen(listener)
	return n, listener.Addr().String(), nil
}

func (r *run) unprotect(c *worker.Config) {
	switch r.Unsafe {
	case "", ForgetfulStore:
	case FenceOff:
		c.Unsafe = []string{worker.ActWithoutAsking}
	case worker.SlowClock:
		c.Rate, c.Unsafe = 1, []string{r.Unsafe}
	default:
		c.Unsafe = []string{r.Unsafe}
	}
}

// answers asks the store for something.
func (r *run) answers(within time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	_, err := r.store.Load(ctx, election)
	return err
}

// stop tells all candidates to end.
func (r *run) stop() error {
	errs := make([]error, len(r.candidates))
	var stopping sync.WaitGroup
	for i, c := range r.candidates {
		stopping.Go(func() { errs[i] = c.Stop() })
	}
	stopping.Wait()
	return errors.Join(errs...)
}

func (r *run) close() error {
	var errs []error
	for _, c := range r.candidates {
		errs = append(errs, c.Kill())
	}
	for _, g := range r.groups {
		g.Remove()
	}
	if r.registers != nil {
		r.registers.Close()
	}
	if r.store != nil {
		_ = r.store.Close() // of a store that nobody needs any more
	}
	if r.history != nil {
		errs = append(errs, r.history.Close())
	}
	return errors.Join(errs...)
}

// grade asks the store how strong it is.
func (r *run) grade(ctx context.Context) tenure.Guarantee {
	asked, ok := r.store.Store.(tenure.Guarantor)
	if !ok {
		return tenure.Guarantee{}
	}
	g, err := asked.Guarantee(ctx)
	if err != nil {
		g.Reasons = append(g.Reasons, "it could not be asked: "+err.Error())
	}
	return g
}

// syncWriter lets many write lines.
type syncWriter struct {
	mu sync.Mutex
	to io.Writer
}

// Write implements [io.Writer].
func (w *syncWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}
