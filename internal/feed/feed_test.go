package feed

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
)

var (
	errClosed = errors.New("closed")
	errLost   = errors.New("lost")
)

// number is an entry that holds a version.
type number int

func (n number) Snapshot(floor uint64) (tenure.Snapshot, error) {
	if n == 0 {
		return tenure.Snapshot{Record: tenure.Record{Token: floor}}, nil
	}
	return tenure.Snapshot{Version: tenure.Version(fmt.Sprint(int(n)))}, nil
}

// server has each reading take what a test does to the feed, until that ends the reading with an error.
type server struct {
	steps chan func(*Feed[number]) error
}

func (s *server) read(ctx context.Context, to *Feed[number]) error {
	for {
		select {
		case step := <-s.steps:
			if err := step(to); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *server) do(step func(*Feed[number]) error) {
	s.steps <- step
	synctest.Wait()
}

func (s *server) begin(held map[string]number, floor uint64) {
	s.do(func(f *Feed[number]) error { f.Begin(held, floor); return nil })
}

func (s *server) change(key string, n number) {
	s.do(func(f *Feed[number]) error { f.Change(key, n); return nil })
}

// start returns feeds and their server.
func start() (*Feeds[number], *server) {
	s := &server{make(chan func(*Feed[number]) error)}
	return New(Config[number]{
		Read: s.read, Closed: errClosed,
		Explain: func(election string, err error) error { return fmt.Errorf("watching %s: %w", election, err) },
	}), s
}

// told is what a watch was told, as words.
type told []string

func (w *told) deliver(s tenure.Snapshot, err error) {
	switch {
	case err != nil:
		*w = append(*w, err.Error())
	default:
		*w = append(*w, fmt.Sprintf("%q floor %d", s.Version, s.Record.Token))
	}
}

func mustWatch(t *testing.T, f *Feeds[number], election string) (w *told, stop func()) {
	t.Helper()
	w = new(told)
	stop, err := f.Watch(election, "key of "+election, w.deliver)
	if err != nil {
		t.Fatal(err)
	}
	return w, stop
}

func (w *told) want(t *testing.T, words ...string) {
	t.Helper()
	synctest.Wait()
	if fmt.Sprintf("%q", []string(*w)) != fmt.Sprintf("%q", words) {
		t.Errorf("told was %q, want %q", *w, words)
	}
}

func TestWatchesAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := start()
		a, stop := mustWatch(t, f, "a")
		b, _ := mustWatch(t, f, "b")
		a.want(t) // nothing is known yet
		s.begin(map[string]number{"key of a": 1}, 7)
		s.change("key of a", 2)
		s.change("key of a", 2)
		s.change("key of b", 0)
		late, _ := mustWatch(t, f, "a")
		late.want(t, `"2" floor 0`)
		s.do(func(*Feed[number]) error { return errLost })
		a.want(t, `"1" floor 0`, `"2" floor 0`, "watching a: interrupted: lost")
		s.begin(map[string]number{"key of a": 3}, 8)
		stop()
		s.change("key of a", 4)
		f.Close()
		a.want(t, `"1" floor 0`, `"2" floor 0`, "watching a: interrupted: lost", `"3" floor 0`)
		b.want(t, `"" floor 7`, "watching b: interrupted: lost", `"" floor 8`, "watching b: closed")
		if _, err := f.Watch("a", "key of a", a.deliver); !errors.Is(err, errClosed) || !f.Closed() {
			t.Errorf("after Close Watch returned %v", err)
		}
	})
}

// The last watch ends the reading, and the next one begins another that knows nothing of the first.
func TestReadingEndsWithTheLastWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := start()
		_, stop := mustWatch(t, f, "a")
		s.begin(map[string]number{"key of a": 1}, 0)
		stop()
		stop()
		synctest.Wait()
		select {
		case s.steps <- nil:
			t.Error("somebody reads while nothing is watched")
		default:
		}
		a, _ := mustWatch(t, f, "a")
		a.want(t)
		s.begin(map[string]number{"key of a": 2}, 0)
		f.Close()
		a.want(t, `"2" floor 0`, "watching a: closed")
	})
}

// A reading that begins with the first watch knows of it, so it reads what that one wants and no more.
func TestFirstReadingKnowsTheFirstWatch(t *testing.T) {
	const attempts = 5000 // which of two goroutines is first is up to the scheduler
	keys := make(chan string, 1)
	f := New(Config[number]{
		Read: func(ctx context.Context, to *Feed[number]) error {
			key, _ := to.Only()
			keys <- key
			<-ctx.Done()
			return ctx.Err()
		},
		Explain: func(_ string, err error) error { return err }, Closed: errClosed,
	})
	defer f.Close()
	for n := range attempts {
		_, stop := mustWatch(t, f, "a")
		if key := <-keys; key != "key of a" {
			t.Fatalf("reading %d is of %q", n, key)
		}
		stop()
	}
}

// A server that refuses at once, for however long, is asked again once a second.
func TestReadingsThatFailArePaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const minutes, most = 10, 700
		reads := 0
		f := New(Config[number]{
			Read: func(ctx context.Context, _ *Feed[number]) error {
				if reads++; reads > most {
					<-ctx.Done() // or time would never pass
				}
				return errLost
			},
			Explain: func(_ string, err error) error { return err }, Closed: errClosed,
		})
		mustWatch(t, f, "a")
		time.Sleep(minutes * time.Minute)
		f.Close()
		if reads < minutes*50 || reads > minutes*61 {
			t.Errorf("it was read %d times in %d minutes", reads, minutes)
		}
	})
}
