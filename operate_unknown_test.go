package tenure_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

// hooked is a store whose calls are what a test makes of them. n counts the calls of a kind from 1.
type hooked struct {
	*memory.Store
	onLoad      func(ctx context.Context, n int) (tenure.Snapshot, error)
	onSwap      func(n int, swap func() error) error
	loads, puts int
}

func (h *hooked) Load(ctx context.Context, election string) (tenure.Snapshot, error) {
	h.loads++
	if h.onLoad != nil {
		return h.onLoad(ctx, h.loads)
	}
	return h.Store.Load(ctx, election)
}

func (h *hooked) CompareAndSwap(
	ctx context.Context, election string, old tenure.Version, r tenure.Record,
) (written tenure.Snapshot, err error) {
	h.puts++
	swap := func() error {
		written, err = h.Store.CompareAndSwap(ctx, election, old, r)
		return err
	}
	if h.onSwap == nil {
		return written, swap()
	}
	err = h.onSwap(h.puts, swap)
	return written, err
}

func led(token uint64, leader string) tenure.Record {
	return tenure.Record{Token: token, Leader: leader, Session: "session of " + leader, TTL: ttl, Renewals: 1}
}

// put replaces the record, whatever it is.
func put(t *testing.T, store tenure.Store, r tenure.Record) {
	t.Helper()
	now, err := store.Load(t.Context(), name)
	if err == nil {
		_, err = store.CompareAndSwap(t.Context(), name, now.Version, r)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// What may become of a write: its reply is lostReply, it is itself, and nobody knows, or it is certainly not applied.
func lostReply(swap func() error) error {
	_ = swap()
	return errOutage
}

func lostRequest(func() error) error { return errOutage }
func notApplied(func() error) error  { return tenure.NotApplied(errOutage, 0) }

// TestAskAddressesOneTerm: whatever becomes of an attempt, no other term than the one first seen is asked.
func TestAskAddressesOneTerm(t *testing.T) {
	vacant := tenure.Record{Token: 1, TTL: ttl, Renewals: 2}
	kept := vacant
	kept.Reserved = "b"
	renewed := led(1, "a")
	renewed.Renewals++
	for what, c := range map[string]struct {
		to    string
		first func(swap func() error) error
		then  *tenure.Record // the record after the first attempt
		want  error
		puts  int
	}{
		"a transfer was carried out":              {"b", lostReply, ptr(led(2, "b")), nil, 1},
		"the seat is kept":                        {"b", lostReply, &kept, nil, 1},
		"the seat is kept for another":            {"c", lostReply, &kept, tenure.ErrNotTransferred, 1},
		"the seat is kept for nobody":             {"b", lostReply, &vacant, tenure.ErrNotTransferred, 1},
		"a transfer was never heard of":           {"b", lostRequest, ptr(led(2, "c")), tenure.ErrNotTransferred, 1},
		"a transfer certainly not applied":        {"b", notApplied, ptr(led(2, "c")), tenure.ErrNotTransferred, 1},
		"a transfer by chance":                    {"b", notApplied, ptr(led(2, "b")), nil, 1},
		"a resignation was carried out":           {"", lostReply, ptr(led(2, "b")), nil, 1},
		"a resignation that left the seat vacant": {"", lostReply, &vacant, nil, 1},
		"a resignation was never heard of":        {"", lostRequest, ptr(led(2, "b")), nil, 1},
		"a resignation certainly not applied":     {"", notApplied, ptr(led(2, "b")), nil, 1},
		"a reply that was lost":                   {"b", lostReply, nil, nil, 1},
		"a request that was lost":                 {"b", lostRequest, nil, nil, 2},
		"a term that goes on":                     {"b", notApplied, &renewed, nil, 2},
		"a term that goes on, perhaps asked":      {"b", lostRequest, &renewed, nil, 2},
		"the same session in a later term":        {"", lostReply, ptr(led(2, "a")), nil, 1},
	} {
		t.Run(what, func(t *testing.T) {
			bubble(t, func(t *testing.T, inner *memory.Store) {
				put(t, inner, led(1, "a"))
				store := &hooked{Store: inner, onSwap: func(n int, swap func() error) error {
					if n > 1 {
						return swap()
					}
					err := c.first(swap)
					if c.then != nil {
						put(t, inner, *c.then)
					}
					return err
				}}
				asked, err := tenure.Ask(t.Context(), store, name, tenure.Request{To: c.to, By: "ops"})
				if !errors.Is(err, c.want) || store.puts != c.puts {
					t.Errorf("Ask = %v after %d writes, want %v after %d", err, store.puts, c.want, c.puts)
				}
				if err == nil && (asked.Token != 1 || asked.Leader != "a" || asked.Request == nil || asked.Request.Token != 1) {
					t.Errorf("Ask returned %+v, want the term that was asked", asked)
				}
				r := record(t, inner)
				if over := r.Token > 1 || r.Vacant(); over == (r.Request != nil) {
					t.Errorf("the record is %+v", r)
				}
			})
		})
	}
}

func ptr[T any](v T) *T { return &v }

// TestAskAfterALostReply is the case in life: b leads by the time that Ask looks.
func TestAskAfterALostReply(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		a, _ := start(t, inner, "a")
		b, _ := start(t, inner, "b")
		c, _ := start(t, inner, "c")
		store := &hooked{Store: inner, onSwap: func(_ int, swap func() error) error {
			err := lostReply(swap)
			time.Sleep(ttl)
			return err
		}}
		if _, err := tenure.Ask(t.Context(), store, name, tenure.Request{To: "b"}); err != nil {
			t.Errorf("a transfer that was carried out: %v", err)
		}
		time.Sleep(ttl)
		expectLeader(t, b, a, c)
		if _, err := tenure.Ask(t.Context(), store, name, tenure.Request{}); err != nil {
			t.Errorf("a resignation that was carried out: %v", err)
		}
		time.Sleep(ttl)
		if r := record(t, inner); r.Token != 3 {
			t.Errorf("token %d, want that of the one term after b's", r.Token)
		}
		stop(t, a, b, c)
	})
}

// A read that lags must not pass for the end of the term.
func TestAskPassesOverStaleReads(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		put(t, inner, tenure.Record{Token: 1, TTL: ttl, Renewals: 3})
		old, _ := inner.Load(t.Context(), name)
		put(t, inner, led(2, "a"))
		store := &hooked{Store: inner}
		store.onLoad = func(ctx context.Context, n int) (tenure.Snapshot, error) {
			if n == 2 || n == 3 {
				return old, nil
			}
			return inner.Load(ctx, name)
		}
		store.onSwap = func(n int, swap func() error) error {
			if n == 1 {
				return notApplied(swap)
			}
			return swap()
		}
		_, err := tenure.Ask(t.Context(), store, name, tenure.Request{To: "b"})
		if err != nil || record(t, inner).Request == nil {
			t.Errorf("Ask = %v, record %+v", err, record(t, inner))
		}
	})
}

// TestPausesAreSetOnce: what others did since is left alone once our own write may have been written before.
func TestPausesAreSetOnce(t *testing.T) {
	theirs := tenure.Pause{By: "them", At: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
	older := tenure.Pause{By: "us", At: theirs.At.Add(-time.Hour)}
	set := func(ctx context.Context, s tenure.Store) (tenure.Record, error) {
		return tenure.SetPause(ctx, s, name, tenure.Pause{By: "us"})
	}
	lift := func(ctx context.Context, s tenure.Store) (tenure.Record, error) {
		return tenure.LiftPause(ctx, s, name)
	}
	for what, c := range map[string]struct {
		do     func(context.Context, tenure.Store) (tenure.Record, error)
		before *tenure.Pause
		first  func(swap func() error) error
		then   *tenure.Pause // set by somebody after the first attempt
		want   string        // whose pause there is in the end
		puts   int
	}{
		"set, the reply was lost":                 {set, nil, lostReply, nil, "us", 1},
		"set, the request was lost":               {set, nil, lostRequest, nil, "us", 2},
		"set over an older one":                   {set, &theirs, lostRequest, nil, "us", 2},
		"set, and then they set theirs":           {set, nil, lostReply, &theirs, "them", 1},
		"set, certainly not, and they set theirs": {set, nil, notApplied, &theirs, "us", 2},
		"lifted, the reply was lost":              {lift, &older, lostReply, nil, "", 1},
		"lifted, the request was lost":            {lift, &older, lostRequest, nil, "", 2},
		"lifted, and then they set theirs":        {lift, &older, lostReply, &theirs, "them", 1},
	} {
		t.Run(what, func(t *testing.T) {
			bubble(t, func(t *testing.T, inner *memory.Store) {
				r := led(1, "a")
				r.Pause = c.before
				put(t, inner, r)
				store := &hooked{Store: inner, onSwap: func(n int, swap func() error) error {
					if n > 1 {
						return swap()
					}
					err := c.first(swap)
					if c.then != nil {
						r := record(t, inner)
						r.Pause = c.then
						put(t, inner, r)
					}
					return err
				}}
				began := time.Now()
				returned, err := c.do(t.Context(), store)
				now, who := record(t, inner), ""
				if now.Pause != nil {
					who = now.Pause.By
				}
				if err != nil || store.puts != c.puts || who != c.want {
					t.Errorf("error %v after %d writes, paused by %q; want %d and %q", err, store.puts, who, c.puts, c.want)
				}
				if (returned.Pause == nil) != (now.Pause == nil) || now.Pause != nil && *returned.Pause != *now.Pause {
					t.Errorf("it returned the pause %+v, but there is %+v", returned.Pause, now.Pause)
				}
				if who == "us" && !now.Pause.At.Equal(began.Truncate(time.Millisecond)) {
					t.Errorf("paused at %v, want when the call was made, %v", now.Pause.At, began)
				}
			})
		})
	}
}

// A pause that was seen to be set is not set again, though it was lifted right after.
func TestALiftedPauseIsNotSetAgain(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		store := &hooked{Store: inner}
		store.onSwap = func(_ int, swap func() error) error { return lostReply(swap) }
		store.onLoad = func(ctx context.Context, n int) (tenure.Snapshot, error) {
			s, err := inner.Load(ctx, name)
			if n == 2 {
				if _, err := tenure.LiftPause(ctx, inner, name); err != nil {
					t.Error(err)
				}
			}
			return s, err
		}
		if _, err := tenure.SetPause(t.Context(), store, name, tenure.Pause{By: "us"}); err != nil || store.puts != 1 {
			t.Errorf("SetPause = %v after %d writes", err, store.puts)
		}
		if r := record(t, inner); r.Pause != nil {
			t.Errorf("paused again: %+v", r)
		}
	})
}

// TestOperationsEndWithTheirContext: neither a store that does not heed it nor one that asks for hours holds them up.
func TestOperationsEndWithTheirContext(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		freed := make(chan struct{})
		deaf := func(context.Context, int) (tenure.Snapshot, error) {
			<-freed
			return tenure.Snapshot{}, errOutage
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		err := tenure.Forget(ctx, &hooked{Store: inner, onLoad: deaf}, name)
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took > time.Minute+time.Second {
			t.Errorf("Forget = %v after %v", err, took)
		}
		put(t, inner, led(1, "a"))
		swallow := func(int, func() error) error { <-freed; return errOutage }
		ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began = time.Now()
		_, err = tenure.Ask(ctx, &hooked{Store: inner, onSwap: swallow}, name, tenure.Request{})
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took > time.Minute+time.Second {
			t.Errorf("Ask = %v after %v", err, took)
		}
		if !strings.Contains(err.Error(), "may have been written") {
			t.Errorf("Ask = %q, which does not say that the request may have been put", err)
		}
		close(freed)
		synctest.Wait()
	})
}

func TestAbsurdRetryAfter(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		put(t, inner, led(1, "a"))
		throttled := func(int, func() error) error { return tenure.NotApplied(errOutage, 2*time.Hour) }
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		_, err := tenure.Ask(ctx, &hooked{Store: inner, onSwap: throttled}, name, tenure.Request{})
		if !errors.Is(err, tenure.ErrNotApplied) || time.Since(began) > time.Second || !strings.Contains(err.Error(), "2h") {
			t.Errorf("Ask = %v after %v", err, time.Since(began))
		}
	})
}
