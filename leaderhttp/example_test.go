package leaderhttp_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/fence"
	"github.com/tenure-go/tenure/leaderhttp"
	"github.com/tenure-go/tenure/memory"
)

// Two processes, here two servers in one: whichever a client asks, the leader answers.
func ExampleGate() {
	store := memory.New()
	hello := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		term, _ := leaderhttp.Term(r.Context())
		fmt.Fprintf(w, "served under token %d", term.Token)
	})
	var servers []*httptest.Server
	defer func() {
		for _, server := range servers {
			server.Close()
		}
	}()
	for _, id := range []string{"node-a", "node-b"} {
		server := httptest.NewUnstartedServer(nil)
		candidate, _ := tenure.New(store, "billing",
			tenure.WithID(id), tenure.WithAddress(server.Listener.Addr().String()))
		gate, err := leaderhttp.NewGate(candidate, hello, leaderhttp.WithProxy(nil))
		if err != nil {
			fmt.Println(err)
			return
		}
		server.Config.Handler = gate
		server.Start()
		servers = append(servers, server)
		_, _ = candidate.TryAcquire(context.Background()) // a program would Start it
	}
	for _, server := range servers {
		resp, err := http.Get(server.URL)
		if err != nil {
			fmt.Println(err)
			return
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		fmt.Println(resp.StatusCode, string(body))
	}
	// Output:
	// 200 served under token 1
	// 200 served under token 1
}

// A ledger that remembers the highest token refuses a leader whose term is over, whatever that one believes.
func ExampleGuard() {
	ledger, err := leaderhttp.NewGuard(&leaderhttp.MemoryMark{}, "billing", http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			token, _ := leaderhttp.GuardedToken(r.Context())
			fmt.Fprintf(w, "written under token %d", token)
		}))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, token := range []string{"7", "8", "7"} {
		r := httptest.NewRequest(http.MethodPost, "/entries", strings.NewReader("…"))
		r.Header.Set(leaderhttp.HeaderElection, "billing")
		r.Header.Set(leaderhttp.HeaderToken, token)
		w := httptest.NewRecorder()
		ledger.ServeHTTP(w, r)
		fmt.Println(w.Code, strings.TrimSpace(w.Body.String()))
	}
	// Output:
	// 200 written under token 7
	// 200 written under token 8
	// 412 the term with token 7 is over: 8 was seen
}

// Leader work sends its token with every request, and nothing after its term.
func ExampleTransport() {
	ledger := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		fmt.Println("received:", r.Header.Get(leaderhttp.HeaderElection), r.Header.Get(leaderhttp.HeaderToken))
	}))
	defer ledger.Close()
	client := &http.Client{Transport: leaderhttp.NewTransport(nil)}

	candidate, _ := tenure.New(memory.New(), "billing")
	var over tenure.Term
	err := candidate.Run(context.Background(), func(ctx context.Context, term tenure.Term) error {
		over = term
		r, err := http.NewRequestWithContext(leaderhttp.WithTerm(ctx, term), http.MethodPost, ledger.URL, http.NoBody)
		if err != nil {
			return err
		}
		resp, err := client.Do(r)
		if err != nil {
			return err
		}
		return resp.Body.Close()
	})
	fmt.Println("error:", err)

	late := leaderhttp.WithTerm(context.Background(), over)
	r, _ := http.NewRequestWithContext(late, http.MethodPost, ledger.URL, http.NoBody)
	resp, err := client.Do(r)
	if err == nil {
		resp.Body.Close()
	}
	fmt.Println("afterwards refused:", errors.Is(err, tenure.ErrNotLeader))
	// Output:
	// received: billing 1
	// error: <nil>
	// afterwards refused: true
}

// A mark in a SQL database, for a guard that several processes share. Where the guarded handler writes to that same
// database, advance the mark in the handler's own transaction instead, with the token from GuardedToken: then not even
// a request that was let through, and paused, can write.
func ExampleMarkFunc() {
	sqlMark := func(db *sql.DB, marks *fence.Guard) leaderhttp.MarkFunc {
		return func(ctx context.Context, election string, token uint64) (uint64, error) {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return 0, err
			}
			defer func() { _ = tx.Rollback() }() // does nothing after Commit
			err = marks.Advance(ctx, tx, "ledger", election, token)
			if stale := (*fence.StaleError)(nil); errors.As(err, &stale) {
				return stale.Mark, nil
			}
			if err != nil {
				return 0, err
			}
			return token, tx.Commit()
		}
	}
	_ = sqlMark
	// Output:
}
