package leaderhttp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/leaderhttp"
	"github.com/tenure-go/tenure/memory"
)

func probes(t *testing.T, candidates ...*tenure.Candidate) *leaderhttp.Probes {
	t.Helper()
	p, err := leaderhttp.NewProbes(candidates...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestProbes(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a, b := start(t, store, "a"), start(t, store, "b")
		pa, pb := probes(t, a), probes(t, b)
		expect(t, ask(t, pa, "/leader"), 200, "leader")
		expect(t, ask(t, pb, "/leader"), 503, "not the leader")
		for _, path := range []string{"/healthz", "/readyz"} {
			expect(t, ask(t, pa, path), 200, "ok")
			expect(t, ask(t, pb, path), 200, "ok")
		}
		stop(t, a)
		synctest.Wait()
		expect(t, ask(t, pa, "/leader"), 503, "not the leader")
		expect(t, ask(t, pb, "/leader"), 200, "leader")
		expect(t, ask(t, pa, "/readyz"), 503, `the candidate of "billing" is stopped`)
		expect(t, ask(t, pa, "/healthz"), 200, "ok")
		expect(t, ask(t, pa, "/elsewhere"), 404, "")
		stop(t, b)
	})
}

// An outage of the store takes nobody out of service and restarts nobody; leader work that hangs does.
func TestProbesTellOutagesFromOverruns(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		store := &away{Store: inner}
		a := start(t, store, "a")
		p, hang := probes(t, a), make(chan struct{})
		done := make(chan struct{})
		go func() {
			defer close(done)
			a.RunIfLeader(context.Background(), func(context.Context, tenure.Term) error { <-hang; return nil })
		}()
		synctest.Wait()
		store.cut(true)
		time.Sleep(3 * ttl / 4)
		expect(t, ask(t, p, "/readyz"), 200, "ok")
		time.Sleep(ttl)
		expect(t, ask(t, p, "/leader"), 503, "not the leader")
		expect(t, ask(t, p, "/healthz"), 503, `the candidate of "billing" is overrun`)
		expect(t, ask(t, p, "/readyz"), 503, `the candidate of "billing" is overrun`)
		close(hang)
		<-done
		synctest.Wait()
		expect(t, ask(t, p, "/healthz"), 200, "ok")
		expect(t, ask(t, p, "/readyz"), 200, "ok")
		store.cut(false)
		stop(t, a)
	})
}

func TestProbesOfSeveralElections(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a := start(t, store, "a")
		other, err := tenure.New(store, "a/b c", tenure.WithID("a"))
		if err != nil {
			t.Fatal(err)
		}
		p := probes(t, a, other)
		expect(t, ask(t, p, "/leader?election=billing"), 200, "leader")
		expect(t, ask(t, p, "/leader?election=a%2Fb+c"), 503, "not the leader")
		expect(t, ask(t, p, "/leader"), 400, "name one election")
		expect(t, ask(t, p, "/leader?election=billing&election=x"), 400, "name one election")
		expect(t, ask(t, p, "/leader?election=x"), 404, `no candidate here stands in the election "x"`)
		expect(t, ask(t, probes(t, a), "/leader?election=billing"), 200, "leader")
		expect(t, ask(t, p, "/readyz"), 503, `the candidate of "a/b c" is stopped`)
		stop(t, a)
	})
}

func TestProbesOnlyTell(t *testing.T) {
	bubble(t, func(t *testing.T, store *memory.Store) {
		a := start(t, store, "a")
		p := probes(t, a)
		for _, path := range []string{"/leader", "/healthz", "/readyz", "/status"} {
			for _, method := range []string{http.MethodPost, http.MethodDelete, http.MethodHead} {
				w := httptest.NewRecorder()
				p.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody))
				if want := map[bool]int{true: 200, false: 405}[method == http.MethodHead]; w.Code != want {
					t.Errorf("%s %s: %d", method, path, w.Code)
				}
				if w.Header().Get("Cache-Control") != "no-store" {
					t.Errorf("%s %s may be cached", method, path)
				}
			}
		}
		stop(t, a)
	})
}

func TestStatusInJSON(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		store := &away{Store: inner}
		a := start(t, store, "a", tenure.WithMetadata(map[string]string{"zone": "north"}), tenure.WithRenewInterval(ttl/4))
		session := a.Status().Session
		time.Sleep(ttl / 4)
		store.cut(true)
		time.Sleep(ttl / 4)
		w := ask(t, probes(t, a), "/status")
		if w.Code != 200 || w.Header().Get("Content-Type") != "application/json" || strings.Contains(w.Body.String(), session) {
			t.Errorf("%d %v, with the session: %v", w.Code, w.Header(), strings.Contains(w.Body.String(), session))
		}
		var all []map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &all); err != nil || len(all) != 1 {
			t.Fatalf("%v: %s", err, w.Body)
		}
		for key, want := range map[string]any{
			"election": name, "id": "a", "state": "leader", "leading": true, "leader": "a", "address": "a:80",
			"metadata": map[string]any{"zone": "north"}, "token": 1.0, "ttl_seconds": 10.0, "watching": false,
			"paused": false, "last_error": "the store is away",
		} {
			if got := all[0][key]; !equal(got, want) {
				t.Errorf("%s is %v, want %v", key, got, want)
			}
		}
		if trust, _ := all[0]["trust_seconds"].(float64); trust <= 5 || trust >= 6 {
			t.Errorf("trust_seconds is %v", trust)
		}
		decisions, _ := all[0]["decisions"].([]any)
		if len(decisions) < 5 {
			t.Errorf("decisions %v", decisions)
		}
		store.cut(false)
		stop(t, a)
	})
}

func equal(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}

func TestProbesRefuseConfiguration(t *testing.T) {
	c, err := tenure.New(memory.New(), name)
	if err != nil {
		t.Fatal(err)
	}
	for what, candidates := range map[string][]*tenure.Candidate{"none": {}, "nil": {nil}, "twice": {c, c}} {
		if _, err := leaderhttp.NewProbes(candidates...); !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
