package protocol

import "github.com/tenure-go/tenure/internal/clock"

// attempt is a write that may have landed, or may still.
type attempt struct {
	token, renewals uint64
	sent            clock.Reading
}

// attempts are the writes in doubt. A record newer than all that was seen before settles every one: it is either made
// by one of them, or has replaced the version that they expect.
type attempts struct {
	list  []attempt
	count uint64
}

// maxAttempts bounds the list. An attempt beyond it is forgotten: should it land, it extends no lease.
const maxAttempts = 32

// number returns a number above that of the record to be replaced, and one that this session never used before, so
// that the number in the store tells which attempt landed.
func (a *attempts) number(above uint64) uint64 {
	a.count = max(a.count, above) + 1
	return a.count
}

func (a *attempts) add(r Record, sent clock.Reading) {
	if len(a.list) == maxAttempts {
		a.list = append(a.list[:0], a.list[1:]...)
	}
	a.list = append(a.list, attempt{r.Token, r.Renewals, sent})
}

// landed returns the attempt that made the record.
func (a *attempts) landed(r Record) (attempt, bool) {
	for _, t := range a.list {
		if t.token == r.Token && t.renewals == r.Renewals {
			return t, true
		}
	}
	return attempt{}, false
}

// dropLast forgets the newest attempt: it certainly did not land.
func (a *attempts) dropLast() {
	if n := len(a.list); n > 0 {
		a.list = a.list[:n-1]
	}
}

func (a *attempts) settle() { a.list = a.list[:0] }

func (a *attempts) inDoubt() bool { return len(a.list) > 0 }
