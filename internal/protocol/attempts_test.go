package protocol

import (
	"testing"
	"time"

	"github.com/tenure-go/tenure/internal/clock"
)

func at(d time.Duration) clock.Reading { return clock.Reading{Mono: d, Wall: d, Boot: d} }

// S7: the number in the store tells which attempt landed, so none is used twice and each is above that of the record.
func TestS7NumbersOnlyRise(t *testing.T) {
	var a attempts
	last := uint64(0)
	for _, above := range []uint64{0, 0, 41, 7, 42, 0} {
		n := a.begin(Record{Renewals: above}, at(0), above).Renewals
		if n <= last || n <= above {
			t.Errorf("above %d and %d comes %d", last, above, n)
		}
		last = n
	}
}

func TestS7AttemptsAreKnownByTokenAndNumber(t *testing.T) {
	var a attempts
	first := a.begin(Record{Token: 3}, at(1), 0)
	second := a.begin(Record{Token: 3}, at(2), 0)
	if got, ok := a.landed(first); !ok || got.sent != at(1) {
		t.Errorf("the first attempt is %+v, %v", got, ok)
	}
	if _, ok := a.landed(Record{Token: 4, Renewals: first.Renewals}); ok {
		t.Error("another term's number is taken for this one's")
	}
	a.dropLast()
	if _, ok := a.landed(second); ok || !a.inDoubt() || a.made(second.Renewals) || !a.made(first.Renewals) {
		t.Error("a refused attempt is still in doubt, or the one before it no more")
	}
	a.settle(Record{Token: 4})
	a.dropLast()
	if a.inDoubt() {
		t.Error("an attempt is in doubt although all are settled")
	}
}

func TestAttemptsForgetTheOldest(t *testing.T) {
	var a attempts
	var made []Record
	for n := range uint64(maxNumbers + 1) {
		made = append(made, a.begin(Record{Token: 1}, at(time.Duration(n)), n))
	}
	if _, ok := a.landed(made[maxNumbers-maxAttempts]); ok || len(a.inFlight) != maxAttempts {
		t.Errorf("%d attempts are kept, the oldest: %v", len(a.inFlight), ok)
	}
	if _, ok := a.landed(made[maxNumbers]); !ok {
		t.Error("the newest attempt is forgotten")
	}
	if a.made(made[0].Renewals) || !a.made(made[1].Renewals) || len(a.numbers) != maxNumbers {
		t.Errorf("%d numbers are kept", len(a.numbers))
	}
}
