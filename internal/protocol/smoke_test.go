package protocol

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tenure-go/tenure/internal/clock"
)

func testConfig(id string) Config {
	return Config{ID: id, Session: "s-" + id, TTL: 10 * time.Second, Drain: 2 * time.Second, ClockError: 0.01,
		RenewEvery: 10 * time.Second / 3, PollEvery: 2 * time.Second, CallTimeout: 10 * time.Second / 6,
		Backoff: Backoff{200 * time.Millisecond, 5 * time.Second, 2, 0.5}, Release: true}
}

func at(d time.Duration) clock.Reading { return clock.Reading{Mono: d, Wall: d, Boot: d} }

func TestSmoke(t *testing.T) {
	if err := testConfig("a").Check(); err != nil {
		t.Fatal(err)
	}
	m := New(testConfig("a"), rand.NewPCG(1, 2))
	show := func(es []Effect) []Effect {
		for _, e := range es {
			t.Logf("%v %v %q %+v", m.State(), e.Do, e.Reason, e.Record)
		}
		return append([]Effect(nil), es...)
	}
	show(m.Step(at(0), Input{Kind: Stand}))
	es := show(m.Step(at(time.Second), Input{Kind: Loaded}))
	w := es[len(es)-1]
	es = show(m.Step(at(2*time.Second), Input{Kind: Wrote, Snapshot: Snapshot{Version: "1", Record: w.Record}}))
	t.Log(m.Wake())
	es = show(m.Step(at(5*time.Second), Input{Kind: Tick}))
	w = es[len(es)-1]
	show(m.Step(at(5*time.Second), Input{Kind: Wrote, Snapshot: Snapshot{Version: "2", Record: w.Record}}))
	show(m.Step(at(6*time.Second), Input{Kind: Stop}))
	es = show(m.Step(at(6*time.Second), Input{Kind: WorkChange, Work: NoWork}))
	w = es[len(es)-1]
	es = show(m.Step(at(6*time.Second), Input{Kind: Wrote, Snapshot: Snapshot{Version: "3", Record: w.Record}}))
	if es[len(es)-1].Do != Done {
		t.Fatal("not done")
	}
}
