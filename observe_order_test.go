package tenure_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

// past is a store whose whole history a test knows. Its reads may lag, and its pushes come when the test says.
type past struct {
	tenure.Store // none: it is only read
	mu           sync.Mutex
	states       []moment
	lag          func() time.Duration // of a read
	loads        int
	deliver      func(tenure.Snapshot, error)
	stopped      bool
}

type moment struct {
	since    time.Time
	snapshot tenure.Snapshot
}

func newPast() *past { return &past{states: []moment{{time.Now(), tenure.Snapshot{}}}} }

// looks returns how often the store was read.
func (p *past) looks() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.loads
}

func (p *past) Load(context.Context, string) (tenure.Snapshot, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.loads++
	at := time.Now()
	if p.lag != nil {
		at = at.Add(-p.lag())
	}
	shown := p.states[0].snapshot
	for _, m := range p.states {
		if !m.since.After(at) {
			shown = m.snapshot
		}
	}
	return shown, nil
}

// write makes a state the present one.
func (p *past) write(r tenure.Record) tenure.Snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := tenure.Snapshot{Version: tenure.Version(fmt.Sprint(len(p.states))), Record: r.Clone()}
	p.states = append(p.states, moment{time.Now(), s})
	return s
}

// remove deletes the record; floor is what the store then shows.
func (p *past) remove(floor uint64) tenure.Snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := tenure.Snapshot{Record: tenure.Record{Token: floor}}
	p.states = append(p.states, moment{time.Now(), s})
	return s
}

func (p *past) now() tenure.Snapshot { return p.states[len(p.states)-1].snapshot }

// push delivers a state after a while.
func (p *past) push(s tenure.Snapshot, after time.Duration) {
	time.AfterFunc(after, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.deliver != nil && !p.stopped {
			p.deliver(s, nil)
		}
	})
}

// pushing is a past that can be watched.
type pushing struct {
	*past
	refusals int // of watches that are to be set up
	tries    []time.Time
}

// tried returns how often a watch was to be set up.
func (p *pushing) tried() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.tries)
}

func (p *pushing) Watch(_ context.Context, _ string, deliver func(tenure.Snapshot, error)) (func(), error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tries = append(p.tries, time.Now()); len(p.tries) <= p.refusals {
		return nil, errOutage
	}
	p.deliver = deliver
	deliver(p.now(), nil)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.stopped = true
	}, nil
}

// everyOther returns a lag that every other read has.
func everyOther(lag time.Duration) func() time.Duration {
	n := 0
	return func() time.Duration {
		n++
		return time.Duration(n%2) * lag
	}
}

// TestObservePassesOverStaleReads: a read that lags is no loss, and what comes after it no new term.
func TestObservePassesOverStaleReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPast()
		p.lag = everyOther(3 * time.Second) // by more than two reads are apart
		stopObserving := observe(t, p)
		want := []string{"first"}
		for token := range uint64(20) {
			p.write(led(token+1, "a"))
			want = append(want, "elected a")
			time.Sleep(ttl / 2)
		}
		if got := stopObserving(); !slices.Equal(got, want) {
			t.Errorf("observed %q, want %q", got, want)
		}
	})
}

// TestObserveALoss: what the store shows for good is believed, once, and counts from then on.
func TestObserveALoss(t *testing.T) {
	vacant := tenure.Record{Token: 5, TTL: ttl, Renewals: 9}
	forgotten := vacant
	forgotten.Forgotten = true
	for what, c := range map[string]struct {
		before tenure.Record
		lose   func(p *past)
		want   []string
	}{
		"a leader's record is deleted": {led(5, "a"), func(p *past) { p.remove(0) }, []string{"lost"}},
		"the same with a floor":        {led(5, "a"), func(p *past) { p.remove(7) }, []string{"lost"}},
		"a vacant record is deleted":   {vacant, func(p *past) { p.remove(4) }, []string{"lost"}},
		"a vacant record is pruned":    {vacant, func(p *past) { p.remove(5) }, []string{"forgotten"}},
		"a tombstone is pruned":        {forgotten, func(p *past) { p.remove(9) }, nil},
		"the record goes back":         {led(5, "a"), func(p *past) { p.write(led(4, "b")) }, []string{"lost b"}},
		"another session":              {led(5, "a"), func(p *past) { p.write(led(5, "b")) }, []string{"lost b"}},
		"and then a new term": {led(5, "a"), func(p *past) {
			p.write(led(4, "b"))
			time.Sleep(ttl / 2)
			p.write(led(6, "c"))
		}, []string{"lost b", "elected c"}},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPast()
				p.write(c.before)
				stopObserving := observe(t, p)
				c.lose(p)
				time.Sleep(ttl * 3 / 4)
				if got := stopObserving()[1:]; !slices.Equal(got, c.want) {
					t.Errorf("observed %q, want %q", got, c.want)
				}
			})
		})
	}
}

// TestObserveLatePushes: a push that was overtaken changes nothing, and asks for one look.
func TestObserveLatePushes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pushing{past: newPast()}
		first := p.write(led(1, "a"))
		paused := led(2, "b")
		paused.Pause = &tenure.Pause{By: "ops"}
		second, third := p.write(paused), p.write(led(2, "b"))
		stopObserving := observe(t, p)
		for _, s := range []tenure.Snapshot{third, second, first, {}, third} {
			p.push(s, 0)
			time.Sleep(ttl / 20)
		}
		if n := p.looks(); n == 0 || n > 12 {
			t.Errorf("%d loads", n)
		}
		again := p.write(paused)
		p.push(again, 0)
		p.push(third, time.Millisecond)
		time.Sleep(100 * time.Millisecond)
		lifted := p.write(led(2, "b"))
		p.push(lifted, 0)
		p.push(again, time.Millisecond)
		time.Sleep(ttl / 4)
		got, want := stopObserving(), []string{"first b", "paused b", "resumed b"}
		if !slices.Equal(got, want) {
			t.Errorf("observed %q, want %q", got, want)
		}
	})
}

// What waits to be taken is never an older state in the place of a later one.
func TestObserveKeepsTheLaterOfTwoPushes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pushing{past: newPast()}
		old := p.write(led(1, "a"))
		var seen []uint64
		ctx, cancel := context.WithTimeout(t.Context(), ttl)
		defer cancel()
		for change := range tenure.Observe(ctx, p, name) {
			if seen = append(seen, change.Record.Token); len(seen) == 1 {
				p.push(p.write(led(2, "b")), 0)
				p.push(old, time.Millisecond)
				time.Sleep(time.Second) // the consumer is busy
			}
			if len(seen) == 2 && time.Until(deadlineOf(ctx)) < ttl*8/10 {
				t.Error("the later push was lost")
			}
		}
		if want := []uint64{1, 2}; !slices.Equal(seen, want) {
			t.Errorf("saw the tokens %d, want %d", seen, want)
		}
	})
}

func deadlineOf(ctx context.Context) time.Time {
	deadline, _ := ctx.Deadline()
	return deadline
}

// A watch that cannot be set up is tried again, ever less often.
func TestObserveTriesToWatchAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pushing{past: newPast(), refusals: 5}
		stopObserving := observe(t, p)
		time.Sleep(10 * time.Minute)
		if n := p.tried(); n != 6 {
			t.Errorf("tried %d times, want six", n)
		}
		before := p.looks()
		time.Sleep(10 * time.Minute)
		if n := p.looks() - before; n > 61 {
			t.Errorf("%d loads in ten minutes of watching", n)
		}
		stopObserving()
		if !p.stopped {
			t.Error("the watch goes on")
		}
	})
}

// A watch that tells nothing any more is found out by the looks that are made all the same.
func TestObserveAMuteWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pushing{past: newPast()}
		stopObserving := observe(t, p)
		time.Sleep(time.Second)
		for token := range uint64(12) { // each for half a TTL
			p.write(led(token+1, "a"))
			time.Sleep(ttl / 2)
		}
		if got := stopObserving(); len(got) < 11 {
			t.Errorf("observed %q", got)
		}
	})
}

func TestObserveAbsurdTTL(t *testing.T) {
	for _, absurd := range []time.Duration{math.MaxInt64, 0, -time.Hour, 1} {
		synctest.Test(t, func(t *testing.T) {
			p := newPast()
			r := led(1, "a")
			r.TTL = absurd
			p.write(r)
			stopObserving := observe(t, p)
			time.Sleep(time.Minute)
			if p.looks() > 60*50+1 || absurd > time.Hour && p.looks() > 3 {
				t.Errorf("with the TTL %v %d loads in a minute", absurd, p.looks())
			}
			stopObserving()
		})
	}
}

// TestObserveADeafStore: loads that never end hold up neither pushes, nor the silence of a leader, nor the end.
func TestObserveADeafStore(t *testing.T) {
	bubble(t, func(t *testing.T, inner *memory.Store) {
		freed := make(chan struct{})
		store := &hooked{Store: inner, onLoad: func(context.Context, int) (tenure.Snapshot, error) {
			<-freed
			return tenure.Snapshot{}, errOutage
		}}
		put(t, inner, tenure.Record{Token: 1, TTL: ttl, Renewals: 1})
		stopObserving := observe(t, store)
		time.Sleep(ttl + time.Millisecond) // a load is under way now
		put(t, inner, led(2, "a"))
		time.Sleep(3 * ttl)
		began := time.Now()
		got := stopObserving()
		if took := time.Since(began); took > 2*time.Second || len(got) < 4 || len(got) > 9 || store.loads != 1 {
			t.Errorf("observed %q, with %d loads; the end took %v", got, store.loads, took)
		}
		if !slices.Equal(got[:2], []string{"first", "elected a"}) ||
			!slices.Contains(got, "silent a") || !slices.Contains(got, "error") {
			t.Errorf("observed %q", got)
		}
		close(freed)
		synctest.Wait()
	})
}

// teller makes up a history, of which the test knows everything.
type teller struct {
	*past
	random *rand.Rand
	record tenure.Record
	losses int
}

// next does one thing that happens in the life of an election.
func (h *teller) next() tenure.Snapshot {
	r := &h.record
	switch n := h.random.IntN(12); {
	case r.Vacant() && n < 9:
		*r = led(r.Token+1, string(rune('a'+n)))
		r.Session, r.Renewals = fmt.Sprint(h.random.Uint64()), 0
	case n < 5 && !r.Vacant():
		r.Request = nil
	case n < 7 && !r.Vacant():
		*r = tenure.Record{Token: r.Token, TTL: ttl, Renewals: r.Renewals, Pause: r.Pause}
	case n == 7 && !r.Vacant():
		r.Request = &tenure.Request{Token: r.Token, By: fmt.Sprint(h.random.Uint64())}
		return h.write(*r)
	case n == 8:
		r.Request = nil
		return h.write(*r)
	default:
		if r.Pause == nil {
			r.Pause = &tenure.Pause{By: fmt.Sprint(h.random.Uint64())}
		} else {
			r.Pause = nil
		}
		return h.write(*r)
	}
	r.Renewals++
	return h.write(*r)
}

// lose has the store go back to an earlier state, or to none.
func (h *teller) lose() {
	h.losses++
	if h.random.IntN(2) == 0 {
		h.record = tenure.Record{}
		h.remove(0)
		return
	}
	h.record = h.states[h.random.IntN(len(h.states))].snapshot.Record.Clone()
	h.write(h.record)
}

// TestObserveHistories has observers follow histories that are made up, through reads that lag by up to a second and
// pushes that are late, repeated, overtaken, or never come.
func TestObserveHistories(t *testing.T) {
	histories := uint64(3000)
	if testing.Short() {
		histories = 300
	}
	for seed := range histories {
		synctest.Test(t, func(t *testing.T) { followHistory(t, seed) })
		if t.Failed() {
			t.Fatalf("with the seed %d", seed)
		}
	}
}

func followHistory(t *testing.T, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 1))
	h := &teller{past: newPast(), random: random}
	reads := rand.New(rand.NewPCG(seed, 2))
	h.lag = func() time.Duration { return time.Duration(reads.Int64N(int64(time.Second))) }
	var store tenure.Store = h.past
	if seed%2 == 0 {
		store = &pushing{past: h.past}
	}
	var seen []tenure.Change
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for change, err := range tenure.Observe(ctx, store, name, tenure.WithRenewals()) {
			if err != nil {
				t.Errorf("error %v", err)
			}
			seen = append(seen, change)
		}
	}()
	for range 30 {
		time.Sleep(time.Duration(random.Int64N(int64(ttl / 3))))
		if seed%3 == 0 && random.IntN(15) == 0 {
			h.lose()
			time.Sleep(time.Duration(random.Int64N(int64(ttl))))
		}
		s := h.next()
		for range random.IntN(3) { // none at all if it was merged into the next one
			h.push(s, time.Duration(random.Int64N(int64(3*time.Second))))
		}
	}
	h.push(h.now(), 0)
	time.Sleep(ttl * 19 / 20)
	if h.losses > 0 { // a read that lags can hide one until the next look
		time.Sleep(ttl)
	}
	cancel()
	<-ended
	judgeHistory(t, h, seen)
}

// judgeHistory checks what an observer said of a history.
func judgeHistory(t *testing.T, h *teller, seen []tenure.Change) {
	elected, losses := map[string]int{}, 0
	for i, c := range seen {
		term := fmt.Sprint(c.Record.Token, " ", c.Record.Session)
		switch c.Kind {
		case tenure.ChangeLost:
			losses++
		case tenure.ChangeElected:
			elected[term]++ // again, if a later loss brings an earlier term back
		case tenure.ChangeReturned:
			if seen[i-1].Record.Token != c.Record.Token || seen[i-1].Record.Renewals >= c.Record.Renewals {
				t.Errorf("returned with %+v after %+v", c.Record, seen[i-1].Record)
			}
		}
		if i > 0 && c.Record.Token < seen[i-1].Record.Token && c.Kind != tenure.ChangeLost {
			t.Errorf("the token fell from %d to %d with %q", seen[i-1].Record.Token, c.Record.Token, c.Kind)
		}
		known := elected[term] == 1 || elected[term] == 0 && seen[0].Record.Session == c.Record.Session
		if h.losses == 0 && !c.Record.Vacant() && !known {
			t.Errorf("the term %q was elected %d times by %q", term, elected[term], c.Kind)
		}
	}
	if losses > h.losses {
		t.Errorf("%d losses, and %d were reported", h.losses, losses)
	}
	last, now := seen[len(seen)-1].Record, h.now().Record
	if last.Token != now.Token || last.Leader != now.Leader || (last.Pause == nil) != (now.Pause == nil) {
		t.Errorf("the observer ended with %+v, but it is %+v", last, now)
	}
	if t.Failed() {
		for _, c := range seen {
			t.Logf("%v %v %+v", c.At, c.Kind, c.Record)
		}
		for _, m := range h.states {
			t.Logf("in truth: %v %v %+v", m.since, m.snapshot.Version, m.snapshot.Record)
		}
	}
}
