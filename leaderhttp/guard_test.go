package leaderhttp_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/leaderhttp"
	"github.com/tenure-go/tenure/memory"
)

func guard(t *testing.T, mark leaderhttp.Mark, next http.HandlerFunc, options ...leaderhttp.GuardOption) http.Handler {
	t.Helper()
	if next == nil {
		next = func(w http.ResponseWriter, r *http.Request) {
			token, _ := leaderhttp.GuardedToken(r.Context())
			io.WriteString(w, "served under "+strconv.FormatUint(token, 10))
		}
	}
	g, err := leaderhttp.NewGuard(mark, name, next, options...)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// send asks a guard under a token.
func send(t *testing.T, h http.Handler, token string) *httptest.ResponseRecorder {
	t.Helper()
	return ask(t, h, "/", leaderhttp.HeaderElection, name, leaderhttp.HeaderToken, token)
}

func TestGuardRefusesStaleTokens(t *testing.T) {
	g := guard(t, &leaderhttp.MemoryMark{}, nil)
	expect(t, send(t, g, "5"), 200, "served under 5")
	expect(t, send(t, g, "5"), 200, "served under 5")
	expect(t, send(t, g, "7"), 200, "served under 7")
	w := send(t, g, "5")
	expect(t, w, 412, "the term with token 5 is over: 7 was seen")
	if got := w.Header().Get(leaderhttp.HeaderToken); got != "7" {
		t.Errorf("the mark in the answer is %q", got)
	}
	expect(t, send(t, g, "7"), 200, "served under 7")
}

func TestGuardTellsWhatIsMissingFromWhatIsMalformed(t *testing.T) {
	const election, token = leaderhttp.HeaderElection, leaderhttp.HeaderToken
	for _, c := range []struct {
		headers          []string
		status, optional int
	}{
		{nil, 428, 200},
		{[]string{token, "5"}, 428, 428},
		{[]string{election, name}, 428, 428},
		{[]string{election, name, token, "5"}, 200, 200},
		{[]string{election, "b%69lling", token, "5"}, 200, 200},
		{[]string{election, "other", token, "5"}, 400, 400},
		{[]string{election, "%", token, "5"}, 400, 400},
		{[]string{election, "", token, "5"}, 400, 400},
		{[]string{election, name, token, ""}, 400, 400},
		{[]string{election, name, token, "0"}, 400, 400},
		{[]string{election, name, token, "-1"}, 400, 400},
		{[]string{election, name, token, "+5"}, 400, 400},
		{[]string{election, name, token, "05"}, 400, 400},
		{[]string{election, name, token, "5.0"}, 400, 400},
		{[]string{election, name, token, "0x5"}, 400, 400},
		{[]string{election, name, token, "9007199254740992"}, 400, 400},
		{[]string{election, name, token, "18446744073709551621"}, 400, 400},
		{[]string{election, name, token, "5", token, "6"}, 400, 400},
		{[]string{election, name, election, name, token, "5"}, 400, 400},
	} {
		mark := &leaderhttp.MemoryMark{}
		if w := ask(t, guard(t, mark, nil), "/", c.headers...); w.Code != c.status {
			t.Errorf("%q: %d %s, want %d", c.headers, w.Code, w.Body, c.status)
		}
		if w := ask(t, guard(t, mark, nil, leaderhttp.WithTokenOptional()), "/", c.headers...); w.Code != c.optional {
			t.Errorf("%q, optional: %d %s, want %d", c.headers, w.Code, w.Body, c.optional)
		}
		if highest, err := mark.Raise(t.Context(), name, 1); err != nil || c.status != 200 && highest != 1 {
			t.Errorf("%q left the mark %d, %v", c.headers, highest, err)
		}
	}
}

// What cannot be remembered is not served.
func TestGuardServesNothingWithoutItsMark(t *testing.T) {
	broken := leaderhttp.MarkFunc(func(context.Context, string, uint64) (uint64, error) {
		return 0, errors.New("the disk of db-7 is full")
	})
	var log bytes.Buffer
	served := false
	g := guard(t, broken, func(http.ResponseWriter, *http.Request) { served = true },
		leaderhttp.WithGuardLogger(slog.New(slog.NewTextHandler(&log, nil))))
	w := send(t, g, "5")
	expect(t, w, 503, "cannot be told")
	if served || w.Header().Get("Retry-After") != "1" || strings.Contains(w.Body.String(), "db-7") {
		t.Errorf("served %v, answered %v %q", served, w.Header(), w.Body)
	}
	if !strings.Contains(log.String(), "db-7") {
		t.Errorf("log %q", &log)
	}
}

// A mark outlives its process.
func TestGuardRemembersAcrossRestarts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "marks")
	for _, c := range []struct {
		token string
		want  int
	}{{"7", 200}, {"5", 412}, {"8", 200}, {"7", 412}} {
		mark, err := leaderhttp.OpenFileMark(path)
		if err != nil {
			t.Fatal(err)
		}
		expect(t, send(t, guard(t, mark, nil), c.token), c.want, "")
		if err := mark.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A request that was let through, and is paused before it writes, must not write after one of a newer term was served:
// it is told to end, and waited for.
func TestGuardWaitsForOlderTerms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var story []string
		tell := func(s string) {
			mu.Lock()
			defer mu.Unlock()
			story = append(story, s)
		}
		g := guard(t, &leaderhttp.MemoryMark{}, func(_ http.ResponseWriter, r *http.Request) {
			token, _ := leaderhttp.GuardedToken(r.Context())
			tell(strconv.FormatUint(token, 10) + " begins")
			if token == 5 {
				<-r.Context().Done()
				if !errors.Is(context.Cause(r.Context()), leaderhttp.ErrSuperseded) {
					t.Errorf("ended with %v", context.Cause(r.Context()))
				}
				time.Sleep(time.Duration(r.ContentLength) * time.Second) // it is writing
			}
			tell(strconv.FormatUint(token, 10) + " ends")
		})
		var old sync.WaitGroup
		for size := range 3 {
			old.Go(func() {
				r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader("abc"[:size+1]))
				r.Header.Set(leaderhttp.HeaderElection, name)
				r.Header.Set(leaderhttp.HeaderToken, "5")
				g.ServeHTTP(httptest.NewRecorder(), r)
			})
		}
		synctest.Wait()
		expect(t, send(t, g, "6"), 200, "")
		old.Wait()
		want := "5 begins, 5 begins, 5 begins, 5 ends, 5 ends, 5 ends, 6 begins, 6 ends"
		if got := strings.Join(story, ", "); got != want {
			t.Errorf("it went: %s", got)
		}
		expect(t, send(t, g, "5"), 412, "6 was seen")
	})
}

// A request that gets past the mark in the instant before a newer token arrives is refused all the same.
func TestGuardChecksAgainAfterTheMark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		marks, hold := &leaderhttp.MemoryMark{}, make(chan struct{})
		slowFor5 := leaderhttp.MarkFunc(func(ctx context.Context, election string, token uint64) (uint64, error) {
			highest, err := marks.Raise(ctx, election, token)
			if token == 5 {
				<-hold
			}
			return highest, err
		})
		g := guard(t, slowFor5, nil)
		answer := make(chan *httptest.ResponseRecorder)
		go func() { answer <- send(t, g, "5") }()
		synctest.Wait()
		expect(t, send(t, g, "6"), 200, "served under 6")
		close(hold)
		expect(t, <-answer, 412, "6 was seen")
	})
}

// A handler that never returns keeps newer terms out no longer than their patience, each time; and one that waits for
// it gives way to a newer one still.
func TestGuardDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		g := guard(t, &leaderhttp.MemoryMark{}, func(_ http.ResponseWriter, r *http.Request) {
			if token, _ := leaderhttp.GuardedToken(r.Context()); token == 5 {
				<-hang
			}
		}, leaderhttp.WithPatience(3*time.Second))
		var all sync.WaitGroup
		all.Go(func() { send(t, g, "5") })
		synctest.Wait()
		begun := time.Now()
		expect(t, send(t, g, "6"), 503, "has not ended yet")
		if took := time.Since(begun); took != 3*time.Second {
			t.Errorf("it waited %v", took)
		}
		all.Go(func() { expect(t, send(t, g, "6"), 412, "8 was seen") })
		synctest.Wait()
		all.Go(func() { expect(t, send(t, g, "8"), 200, "") })
		synctest.Wait()
		close(hang)
		all.Wait()
	})
}

// Requests of one term are served side by side.
func TestGuardServesOneTermConcurrently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var meet sync.WaitGroup
		meet.Add(3)
		g := guard(t, &leaderhttp.MemoryMark{}, func(http.ResponseWriter, *http.Request) {
			meet.Done()
			meet.Wait()
		})
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() { expect(t, send(t, g, "5"), 200, "") })
		}
		all.Wait()
	})
}

// Many requests of rising and falling tokens: never two tokens at once, and never a lower one after a higher one.
func TestGuardOrdersTerms(t *testing.T) {
	var mu sync.Mutex
	highest, running := uint64(0), map[uint64]int{}
	g := guard(t, &leaderhttp.MemoryMark{}, func(_ http.ResponseWriter, r *http.Request) {
		token, _ := leaderhttp.GuardedToken(r.Context())
		mu.Lock()
		running[token]++
		if len(running) > 1 || token < highest {
			t.Errorf("%d is served with %v, after %d", token, running, highest)
		}
		highest = token
		mu.Unlock()
		for range 100 {
			if r.Context().Err() != nil {
				break
			}
		}
		mu.Lock()
		if running[token]--; running[token] == 0 {
			delete(running, token)
		}
		mu.Unlock()
	})
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := range 200 {
				send(t, g, strconv.Itoa(1+i/20+worker%3))
			}
		})
	}
	all.Wait()
	if highest != 12 {
		t.Errorf("the highest token served is %d", highest)
	}
}

func TestGuardRefusesConfiguration(t *testing.T) {
	h, mark := http.NotFoundHandler(), &leaderhttp.MemoryMark{}
	for what, err := range map[string]error{
		"no mark":     second(leaderhttp.NewGuard(nil, name, h)),
		"no handler":  second(leaderhttp.NewGuard(mark, name, nil)),
		"no name":     second(leaderhttp.NewGuard(mark, "", h)),
		"no patience": second(leaderhttp.NewGuard(mark, name, h, leaderhttp.WithPatience(0))),
	} {
		if !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// The whole way: a leader's client, a guard, and a fail-over between them.
func TestTransportAndGuard(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		storeA := &away{Store: inner}
		a, b := start(t, storeA, "a"), start(t, inner, "b")
		n := &network{}
		n.add("ledger", guard(t, &leaderhttp.MemoryMark{}, nil))
		post := func(term tenure.Term) (int, error) {
			r, err := http.NewRequestWithContext(leaderhttp.WithTerm(context.Background(), term), http.MethodPost,
				"http://ledger/", strings.NewReader("1"))
			if err != nil {
				t.Fatal(err)
			}
			return do(leaderhttp.NewTransport(n), r)
		}
		termA, ok := a.Term()
		if !ok {
			t.Fatal("a does not lead")
		}
		if status, err := post(termA); status != 200 || err != nil {
			t.Errorf("the leader got %d, %v", status, err)
		}
		storeA.cut(true)
		time.Sleep(ttl + time.Second)
		if status, err := post(termA); !errors.Is(err, tenure.ErrNotLeader) {
			t.Errorf("a deposed leader got %d, %v", status, err)
		}
		termB, ok := b.Term()
		if !ok {
			t.Fatal("b does not lead")
		}
		if status, err := post(termB); status != 200 || err != nil {
			t.Errorf("the new leader got %d, %v", status, err)
		}
		late := send(t, n.hosts["ledger"], strconv.FormatUint(termA.Token, 10)) // was on its way all the time
		expect(t, late, 412, "")
		storeA.cut(false)
		stop(t, a, b)
	})
}

// A handler behind a gate sends the token of the term that it serves under.
func TestTransportBehindAGate(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a := start(t, store, "a")
		n := &network{}
		n.add("ledger", guard(t, &leaderhttp.MemoryMark{}, nil))
		var escaped *http.Request
		g := gate(t, a, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			out, _ := http.NewRequestWithContext(r.Context(), http.MethodGet, "http://ledger/", http.NoBody)
			if status, err := do(leaderhttp.NewTransport(n), out); err != nil || status != http.StatusOK {
				t.Errorf("%v %v", status, err)
			}
			escaped = out.WithContext(context.WithoutCancel(r.Context()))
		}))
		expect(t, ask(t, g, "/"), 200, "")
		if got := n.last.Header; got.Get(leaderhttp.HeaderElection) != name || got.Get(leaderhttp.HeaderToken) != "1" {
			t.Errorf("sent %v", got)
		}
		stop(t, a)
		if _, err := do(leaderhttp.NewTransport(n), escaped); !errors.Is(err, tenure.ErrNotLeader) {
			t.Errorf("what outlives the request and the term: %v", err)
		}
	})
}

type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error {
	c.closed = true
	return nil
}

func TestTransportSendsNothingWithoutATerm(t *testing.T) {
	n, body := &network{}, &closing{Reader: strings.NewReader("x")}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://ledger/", body)
	r.RequestURI = "" // it was one for a server
	_, err := do(leaderhttp.NewTransport(n), r)
	if !errors.Is(err, leaderhttp.ErrNoTerm) || n.calls != 0 || !body.closed {
		t.Errorf("%v after %d calls, body closed: %v", err, n.calls, body.closed)
	}
	r = r.WithContext(leaderhttp.WithTerm(t.Context(), tenure.Term{Election: name, Token: 3}))
	if _, err := do(leaderhttp.NewTransport(nil), r); !errors.Is(err, tenure.ErrNotLeader) {
		t.Errorf("with a term that was never led: %v", err)
	}
	if _, ok := leaderhttp.Term(t.Context()); ok {
		t.Error("a context without a term has one")
	}
}

// Names that headers cannot hold arrive whole, and the caller's request is not touched.
func TestTransportEncodesNames(t *testing.T) {
	const odd = "Rechnungen für 100 %, a+b/ü\"\\"
	bubble(t, func(t *testing.T, store *memory.Store) {
		c, err := tenure.New(store, odd)
		if err != nil {
			t.Fatal(err)
		}
		if won, err := c.TryAcquire(context.Background()); !won || err != nil {
			t.Fatal(won, err)
		}
		g, err := leaderhttp.NewGuard(&leaderhttp.MemoryMark{}, odd, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		if err != nil {
			t.Fatal(err)
		}
		n := &network{}
		n.add("ledger", g)
		term, _ := c.Term()
		r, _ := http.NewRequestWithContext(leaderhttp.WithTerm(t.Context(), term), http.MethodGet, "http://ledger/", http.NoBody)
		if status, err := do(leaderhttp.NewTransport(n), r); err != nil || status != http.StatusOK {
			t.Errorf("%v %v", status, err)
		}
		if len(r.Header) != 0 {
			t.Errorf("the caller's request has now %v", r.Header)
		}
		stop(t, c)
	})
}
