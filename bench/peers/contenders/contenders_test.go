package contenders

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/klog/v2"

	"github.com/tenure-go/tenure/bench"
	"github.com/tenure-go/tenure/bench/peers"
)

// TestMain is a process that leads, if this program was started again as such.
func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{})
	if done, err := Child(context.Background(), os.Args[1:], os.Stdin, os.Stdout); done {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// lease is so long that nobody leads in time but by a release, except where followers poll and would look too late.
func lease(p peers.Peer) time.Duration {
	if polls(p) {
		return 3 * time.Second
	}
	return time.Minute
}

// inTime is how long an election and a hand-over may take on a busy machine.
func inTime(p peers.Peer) time.Duration {
	if polls(p) {
		return 2 * time.Minute
	}
	return 50 * time.Second // less than the lease
}

func polls(p peers.Peer) bool { return p.Poll > 0.1 }

// Each contender elects exactly one of three, hands over once, and is counted. It takes real time: servers are real,
// and some of them poll.
func TestContenders(t *testing.T) {
	for _, p := range All() {
		t.Run(p.Name, func(t *testing.T) {
			if !p.Storms { // the others would have no processor left
				t.Parallel()
			}
			if p.Needs != nil && p.Needs() != nil {
				t.Skip(p.Needs()) // they take minutes to get, and are no part of the tests
			}
			server, err := p.Arena.Start(t)
			if err != nil {
				t.Fatal(err)
			}
			counts := counted(t, server, func() {
				err = electAndHandOver(t, p, server.Address(), "election")
				// It repeats an attempt that took more than 20 ms only when it is told of a change.
				for again := 0; again < 2 && err != nil && strings.HasPrefix(p.Name, "rueidislock"); again++ {
					t.Logf("once more, after: %v", err)
					err = electAndHandOver(t, p, server.Address(), fmt.Sprint("again-", again))
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			if !enough(p, counts) {
				t.Errorf("for two leaders and a release the server counted %v", counts)
			}
		})
	}
}

func electAndHandOver(t *testing.T, p peers.Peer, address, election string) (err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), inTime(p))
	led := make(chan int, 3)
	failed := make(chan error, 3)
	var all []peers.Contender
	defer func() {
		cancel()
		for range all {
			<-failed
		}
		for _, c := range all {
			c.Close()
		}
	}()
	for i := range 3 {
		c := contender(t, p, address, election, i)
		all = append(all, c)
		go func() {
			err := c.Lead(ctx)
			if err == nil {
				led <- i
			}
			failed <- err
		}()
	}
	first, err := only(ctx, led)
	if err != nil {
		return fmt.Errorf("a first leader: %w", err)
	}
	if err := all[first].Release(ctx); err != nil {
		return fmt.Errorf("releasing: %w", err)
	}
	second, err := only(ctx, led)
	if err != nil {
		return fmt.Errorf("a second leader: %w", err)
	}
	if second == first {
		return errors.New("a candidate that had left the election led again")
	}
	return nil
}

func contender(t *testing.T, p peers.Peer, address, election string, i int) peers.Contender {
	t.Helper()
	node, err := p.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { node.Close() }) // NATS counts no connection that is closed
	c, err := node.Contend(election, fmt.Sprint("node-", i), lease(p))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// only waits for a leader, and then for a while whether there is another: nothing tells that there will be none.
func only(ctx context.Context, led <-chan int) (int, error) {
	var leader int
	select {
	case leader = <-led:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	select {
	case another := <-led:
		return 0, fmt.Errorf("node-%d and node-%d lead at once", leader, another)
	case <-time.After(300 * time.Millisecond):
		return leader, nil
	}
}

// counted returns what a server counts while do runs.
func counted(t *testing.T, server peers.Server, do func()) bench.Counts {
	t.Helper()
	if listener, ok := server.(bench.Listener); ok {
		stop, err := listener.Listen(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := stop(); err != nil {
				t.Error(err)
			}
		}()
	}
	before, err := server.Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	do()
	after, err := server.Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return after.Since(before)
}

// enough tells whether two leaders and a release can have been counted. PostgreSQL tells of changes seconds later.
func enough(p peers.Peer, counts bench.Counts) bool {
	return counts[bench.Requests] >= 3 && (counts[peers.Writes] >= 1 || p.Arena.Name == postgresArena().Name)
}
