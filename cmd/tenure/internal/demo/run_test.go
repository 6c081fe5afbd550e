package demo

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/file"
)

// demoArgument is the first argument of a process that is a demo of one node that freezes, in the directory that is the
// second.
const demoArgument = "demo-of-tests"

// TestMain is the demos and nodes of the tests as well.
func TestMain(m *testing.M) {
	var err error
	switch {
	case slices.Contains(os.Args, NodeArgument):
		err = Node(context.Background(), openDirectory, os.Stdin, os.Stdout)
	case slices.Contains(os.Args, demoArgument):
		dir := os.Args[len(os.Args)-1]
		_, err = Run(context.Background(), Options{
			Nodes: 1, For: time.Hour, TTL: time.Second, Faults: []Fault{Freeze}, Store: "file://" + dir, Remove: dir,
			Open: openDirectory, Election: "demo", Program: []string{os.Args[0], NodeArgument},
			Display: Lines{Out: os.Stdout},
		})
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func openDirectory(_ context.Context, address string) (tenure.Store, func() error, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, nil, err
	}
	store, err := file.Open(u.Path)
	if err != nil {
		return nil, nil, err
	}
	return store, store.Close, nil
}

// shown is a display that keeps what it is shown.
type shown struct {
	Quiet
	events []Event
	views  []View
	first  func() // called with the first event
}

func (s *shown) Event(e Event) {
	s.events = append(s.events, e)
	if len(s.events) == 1 && s.first != nil {
		s.first()
	}
}
func (s *shown) Frame(v View) { s.views = append(s.views, v) }

// runDemo runs a demo with a TTL that keeps it short.
func runDemo(ctx context.Context, t *testing.T, change func(*Options)) (*Result, *shown, error) {
	t.Helper()
	if !canFreeze {
		t.Skip("the file store does not work here")
	}
	display := &shown{}
	o := Options{
		Nodes: 3, For: 2500 * time.Millisecond, TTL: 400 * time.Millisecond, Seed: 1, Faults: Faults(),
		Store: "file://" + t.TempDir(), Open: openDirectory, Election: "demo",
		Program: []string{os.Args[0], NodeArgument}, Display: display,
	}
	if change != nil {
		change(&o)
	}
	result, err := Run(ctx, o)
	return result, display, err
}

func TestDemoFindsNoOverlap(t *testing.T) {
	t.Parallel()
	result, display, err := runDemo(t.Context(), t, func(o *Options) { o.For *= 4 }) // for two faults on a slow machine
	if err != nil {
		t.Fatal(err)
	}
	if !result.Findings.Clean() {
		t.Errorf("found %q", result.Findings.lines())
	}
	if result.Faults < 2 || result.Terms < 2 || len(display.events) <= result.Faults || len(display.views) == 0 {
		t.Errorf("%d faults, %d terms, %d events and %d frames are too few: %+v",
			result.Faults, result.Terms, len(display.events), len(display.views), display.events)
	}
	if result.Summary.Led <= 0 || result.Summary.Led > 1 {
		t.Errorf("somebody led %v of the time", result.Summary.Led)
	}
}

// What finds nothing proves nothing, unless it finds what is there.
func TestDemoFindsOverlapsWithoutProtection(t *testing.T) {
	t.Parallel()
	result, display, err := runDemo(t.Context(), t, func(o *Options) {
		// Once in a hundred times the leader that wakes happens to ask anew; with several freezes it will not each time.
		o.For, o.TTL, o.Unsafe, o.Faults = 12*time.Second, time.Second, true, []Fault{Freeze}
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Findings.Overlaps) == 0 {
		t.Errorf("leaders that woke from a freeze believed that they led, and nothing was found: %+v", display.events)
	}
}

func TestDemoFollowsEveryFault(t *testing.T) {
	for _, test := range []struct {
		fault  Fault
		counts func(*Result) Times
	}{
		{Kill, func(r *Result) Times { return r.AfterKill }},
		{Freeze, func(r *Result) Times { return r.AfterFreeze }},
		{Resign, func(r *Result) Times { return r.HandOver }},
		{Transfer, func(r *Result) Times { return r.HandOver }},
		{Stop, func(r *Result) Times { return r.HandOver }},
	} {
		t.Run(string(test.fault), func(t *testing.T) {
			t.Parallel()
			result, display, err := runDemo(t.Context(), t, func(o *Options) {
				o.For, o.TTL, o.Faults = time.Nanosecond, 4*time.Second, []Fault{test.fault}
			})
			if err != nil {
				t.Fatal(err)
			}
			if test.counts(result).Count != 1 || !result.Findings.Clean() {
				t.Errorf("got %+v, events %+v", result.Summary, display.events)
			}
		})
	}
}

func TestDemoThatIsInterruptedReturnsWhatItSaw(t *testing.T) {
	t.Parallel()
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	result, _, err := runDemo(ctx, t, func(o *Options) {
		o.For, o.TTL, o.Display = time.Hour, time.Minute, &shown{first: func() { cancel(cause) }}
	})
	if !errors.Is(err, cause) {
		t.Errorf("got the error %v, want %v", err, cause)
	}
	if result == nil || result.Terms == 0 {
		t.Fatalf("the result is %+v", result)
	}
	for _, leader := range result.spans {
		if !leader.Released {
			t.Errorf("%s was not ended in an orderly way: %+v", leader.Node, leader)
		}
	}
}

func TestDemoFailsIfANodeDoes(t *testing.T) {
	t.Parallel()
	_, _, err := runDemo(t.Context(), t, func(o *Options) {
		o.Program = []string{"/bin/sh", "-c", "read task; echo the disk is full >&2; exit 3", NodeArgument}
	})
	if err == nil || !strings.Contains(err.Error(), "exit status 3: the disk is full") {
		t.Errorf("got the error %v", err)
	}
}

func TestDemoRefusesAnElectionInUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store, closeStore, err := openDirectory(t.Context(), "file://"+dir)
	if err != nil {
		t.Skip(err)
	}
	defer func() { _ = closeStore() }()
	leader, err := tenure.New(store, "demo", tenure.WithTTL(5*time.Second)) // for which Forget waits
	if err != nil {
		t.Fatal(err)
	}
	if won, err := leader.TryAcquire(t.Context()); !won || err != nil {
		t.Fatal(won, err)
	}
	defer func() { _ = leader.Stop(context.Background()) }()
	_, _, err = runDemo(t.Context(), t, func(o *Options) { o.Store = "file://" + dir })
	if !errors.Is(err, tenure.ErrHeld) {
		t.Errorf("got the error %v, want %v", err, tenure.ErrHeld)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	good := Options{Nodes: 3, For: time.Second, Faults: Faults()}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Options){
		"no node":       func(o *Options) { o.Nodes = 0 },
		"a crowd":       func(o *Options) { o.Nodes = MaxNodes + 1 },
		"no time":       func(o *Options) { o.For = 0 },
		"negative time": func(o *Options) { o.For = -time.Second },
		"no fault":      func(o *Options) { o.Nodes, o.Faults = 1, []Fault{Transfer, Follower} },
	} {
		bad := good
		spoil(&bad)
		if err := bad.Check(); !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("%s: got the error %v", name, err)
		}
	}
}
