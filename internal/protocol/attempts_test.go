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
		n := a.number(above)
		if n <= last || n <= above {
			t.Errorf("above %d and %d comes %d", last, above, n)
		}
		last = n
	}
}

func TestS7AttemptsAreKnownByTokenAndNumber(t *testing.T) {
	var a attempts
	a.add(Record{Token: 3, Renewals: 1}, at(1))
	a.add(Record{Token: 3, Renewals: 2}, at(2))
	if got, ok := a.landed(Record{Token: 3, Renewals: 1}); !ok || got.sent != at(1) {
		t.Errorf("the first attempt is %+v, %v", got, ok)
	}
	if _, ok := a.landed(Record{Token: 4, Renewals: 1}); ok {
		t.Error("another term's number is taken for this one's")
	}
	a.dropLast()
	if _, ok := a.landed(Record{Token: 3, Renewals: 2}); ok || !a.inDoubt() {
		t.Error("a refused attempt is still in doubt, or the one before it no more")
	}
	a.settle()
	a.dropLast()
	if a.inDoubt() {
		t.Error("an attempt is in doubt although all are settled")
	}
}

func TestAttemptsForgetTheOldest(t *testing.T) {
	var a attempts
	for n := range uint64(maxAttempts + 1) {
		a.add(Record{Token: 1, Renewals: n}, at(time.Duration(n)))
	}
	if _, ok := a.landed(Record{Token: 1, Renewals: 0}); ok || len(a.list) != maxAttempts {
		t.Errorf("%d attempts are kept, the oldest: %v", len(a.list), ok)
	}
	if _, ok := a.landed(Record{Token: 1, Renewals: maxAttempts}); !ok {
		t.Error("the newest attempt is forgotten")
	}
}
