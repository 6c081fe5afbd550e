package demo

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func newDeck(seed uint64, of ...Fault) *deck {
	return &deck{of: of, random: rand.New(rand.NewPCG(seed, 0))}
}

func always(Fault) bool { return true }

func TestDeckDealsEveryFaultByItsWeight(t *testing.T) {
	d := newDeck(1, Faults()...)
	var cards []Fault
	for range len(d.shuffled()) {
		fault, ok := d.deal(always)
		if !ok {
			t.Fatal("the deck is empty")
		}
		cards = append(cards, fault)
	}
	for _, w := range weights {
		want := w.cards
		if !slices.Contains(Faults(), w.fault) {
			want = 0
		}
		if got := len(slices.DeleteFunc(slices.Clone(cards), func(f Fault) bool { return f != w.fault })); got != want {
			t.Errorf("dealt %s %d times, want %d", w.fault, got, want)
		}
	}
}

func TestDeckIsTheSameForASeed(t *testing.T) {
	deal := func(seed uint64) []Fault {
		d := newDeck(seed, Faults()...)
		var cards []Fault
		for range 40 {
			fault, _ := d.deal(always)
			cards = append(cards, fault)
		}
		return cards
	}
	if a, b := deal(5), deal(5); !slices.Equal(a, b) {
		t.Errorf("the same seed dealt %v and %v", a, b)
	}
	if a, b := deal(5), deal(6); slices.Equal(a, b) {
		t.Errorf("two seeds dealt the same: %v", a)
	}
}

func TestDeckDealsOnlyWhatIsPossible(t *testing.T) {
	d := newDeck(1, Kill, Transfer)
	for range 20 {
		if fault, ok := d.deal(func(f Fault) bool { return f == Transfer }); !ok || fault != Transfer {
			t.Fatalf("dealt %q, %t; want transfer", fault, ok)
		}
	}
	if fault, ok := d.deal(func(Fault) bool { return false }); ok {
		t.Errorf("dealt %q though nothing is possible", fault)
	}
}

func TestEveryFaultIsCarriedOut(t *testing.T) {
	for _, w := range weights {
		if faults[w.fault] == nil {
			t.Errorf("nothing is done for %s", w.fault)
		}
	}
}

func TestParseFaults(t *testing.T) {
	if got, err := ParseFaults(nil); err != nil || !slices.Equal(got, Faults()) {
		t.Errorf("no names are %v, %v; want all", got, err)
	}
	if got, err := ParseFaults([]string{"kill", "stop"}); err != nil || !slices.Equal(got, []Fault{Kill, Stop}) {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := ParseFaults([]string{"kill", "explode"}); err == nil {
		t.Error("an unknown fault was accepted")
	}
}
