package protocol

import (
	"slices"

	"github.com/tenure-go/tenure/internal/clock"
)

// attempt is a write that may have landed, or may still.
type attempt struct {
	token, renewals uint64
	sent            clock.Reading
}

func (t attempt) made(r Record) bool { return t.token == r.Token && t.renewals == r.Renewals }

// attempts are the writes of this process: those in doubt, the one that made the record, and the numbers of the last
// ones. A record newer than all that was seen before settles every doubt: it is either made by one of them, or has
// replaced the version that they expect.
type attempts struct {
	inFlight []attempt // sent, and not settled
	won      attempt   // made the newest record; zero if none did
	numbers  []uint64  // used last, oldest first
	count    uint64
}

const (
	// maxAttempts bounds the attempts in doubt. One beyond it is forgotten: should it land, it extends no lease.
	maxAttempts = 32
	// maxNumbers bounds the numbers that are remembered. One that is forgotten is taken for another process's.
	maxNumbers = 128
	// Stride bounds the distance between the numbers of two attempts. Two copies of a process choose the same one at
	// a time with a chance of one in 2^24; and 2^53, the largest number that all languages read exactly, is reached
	// after 2^30 attempts on average: a year of renewals at the shortest TTL, a century at the default one.
	Stride = 1 << 24
)

// begin notes the attempt to write r, and returns r with the attempt's number: above that of the record to be replaced,
// and never used before by this session, so that the number in the store tells which attempt landed. fresh is what no
// copy of this process shares.
func (a *attempts) begin(r Record, sent clock.Reading, fresh uint64) Record {
	a.count = max(a.count, r.Renewals) + 1 + fresh%Stride
	r.Renewals = a.count
	a.numbers = appendBounded(a.numbers, a.count, maxNumbers)
	a.inFlight = appendBounded(a.inFlight, attempt{r.Token, r.Renewals, sent}, maxAttempts)
	return r
}

// made reports whether the attempt of this number was one of this process, as far back as it remembers.
func (a *attempts) made(number uint64) bool { return slices.Contains(a.numbers, number) }

// forgot reports whether the number may be that of an attempt too old to be remembered.
func (a *attempts) forgot(number uint64) bool {
	return len(a.numbers) == maxNumbers && number < a.numbers[0]
}

// appendBounded appends to a list of at most n, and drops the oldest beyond that.
func appendBounded[T any](list []T, item T, n int) []T {
	if len(list) == n {
		list = append(list[:0], list[1:]...)
	}
	return append(list, item)
}

// landed returns the attempt that made the record.
func (a *attempts) landed(r Record) (attempt, bool) {
	for _, t := range a.inFlight {
		if t.made(r) {
			return t, true
		}
	}
	return a.won, a.won.token != 0 && a.won.made(r)
}

// dropLast forgets the newest attempt: it certainly did not land.
func (a *attempts) dropLast() {
	if n := len(a.inFlight); n > 0 {
		a.inFlight, a.numbers = a.inFlight[:n-1], a.numbers[:len(a.numbers)-1]
	}
}

// disown forgets the attempt that made r as one that a lease can be counted from.
func (a *attempts) disown(r Record) {
	a.inFlight = slices.DeleteFunc(a.inFlight, func(t attempt) bool { return t.made(r) })
	if a.won.made(r) {
		a.won = attempt{}
	}
}

// settle ends all doubt: the record r is newer than whatever was seen before.
func (a *attempts) settle(r Record) {
	if won, ok := a.landed(r); ok {
		a.won = won
	} else {
		a.won = attempt{}
	}
	a.inFlight = a.inFlight[:0]
}

func (a *attempts) inDoubt() bool { return len(a.inFlight) > 0 }

func (a *attempts) clone() attempts {
	c := *a
	c.inFlight, c.numbers = slices.Clone(a.inFlight), slices.Clone(a.numbers)
	return c
}
