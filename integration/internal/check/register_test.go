package check

import (
	"fmt"
	"testing"
	"time"

	"github.com/tenure-go/tenure/integration/internal/history"
)

func TestRegister(t *testing.T) {
	const ok, refused, failed, lost = history.OK, history.Refused, history.Failed, ""
	tellings(t, "register", []telling{
		{"begins as zero", func(s *story) { s.read("a", 1, 10, 20, 0) }, Held, 0},
		{"begins as nothing else", func(s *story) { s.read("a", 1, 10, 20, 7) }, Violated, 1},
		{"read what was written", func(s *story) { s.write("a", 1, 10, 20, 7, ok); s.read("a", 1, 30, 40, 7) }, Held, 0},
		{"read what was there before", func(s *story) { s.write("a", 1, 10, 20, 7, ok); s.read("a", 1, 30, 40, 0) }, Violated, 1},
		{"either while it is written", func(s *story) {
			s.write("a", 1, 10, 50, 7, ok)
			s.read("o", 0, 15, 20, 0)
			s.read("o", 0, 30, 40, 7)
		}, Held, 0},
		{"back and forth while it is written", func(s *story) {
			s.write("a", 1, 10, 50, 7, ok)
			s.read("o", 0, 15, 20, 7)
			s.read("o", 0, 30, 40, 0)
		}, Violated, 1},
		{"a lower token after a higher", func(s *story) { s.write("b", 2, 10, 20, 7, ok); s.write("a", 1, 30, 40, 8, ok) }, Violated, 1},
		{"a read raises the mark too", func(s *story) { s.read("b", 2, 10, 20, 0); s.write("a", 1, 30, 40, 8, ok) }, Violated, 1},
		{"an onlooker's does not", func(s *story) { s.read("o", 0, 10, 20, 0); s.write("a", 1, 30, 40, 8, ok) }, Held, 0},
		{"an onlooker is not refused", func(s *story) { s.write("a", 1, 10, 20, 8, ok); s.read("o", 0, 30, 40, 8) }, Held, 0},
		{"the same token goes on", func(s *story) { s.write("a", 1, 10, 20, 7, ok); s.write("a", 1, 30, 40, 8, ok) }, Held, 0},
		{"refused with cause", func(s *story) { s.write("b", 2, 10, 20, 7, ok); s.write("a", 1, 30, 40, 8, refused) }, Held, 0},
		{"refused without", func(s *story) { s.write("a", 1, 10, 20, 7, ok); s.write("a", 1, 30, 40, 8, refused) }, Violated, 1},
		{"refused by what came later", func(s *story) { s.write("a", 1, 10, 20, 8, refused); s.write("b", 2, 30, 40, 7, ok) }, Violated, 1},
		{"refused and yet there", func(s *story) {
			s.write("b", 2, 10, 20, 7, ok)
			s.write("a", 1, 30, 40, 8, refused)
			s.read("b", 2, 50, 60, 8)
		}, Violated, 1},
		{"failed and yet there", func(s *story) { s.write("a", 1, 10, 20, 8, failed); s.read("a", 1, 50, 60, 8) }, Violated, 1},
		{"failed and not there", func(s *story) { s.write("a", 1, 10, 20, 8, failed); s.read("a", 1, 50, 60, 0) }, Held, 0},
		{"in doubt and there", func(s *story) { s.write("a", 1, 10, 20, 8, lost); s.read("a", 1, 50, 60, 8) }, Held, 0},
		{"in doubt and not there", func(s *story) { s.write("a", 1, 10, 20, 8, lost); s.read("a", 1, 50, 60, 0) }, Held, 0},
		{"in doubt, and late", func(s *story) {
			s.write("a", 1, 10, 20, 8, lost)
			s.read("a", 1, 50, 60, 0)
			s.read("a", 1, 70, 80, 8)
		}, Held, 0},
		{"in doubt, and later still, in the same term", func(s *story) {
			s.write("a", 1, 10, 20, 8, lost)
			s.read("a", 1, 50, 60, 0)
			s.read("a", 1, 61, 65, 0)
			s.read("a", 1, 70, 80, 8)
		}, Held, 0},
		{"in doubt, and gone again", func(s *story) {
			s.write("a", 1, 10, 20, 8, lost)
			s.read("a", 1, 50, 60, 8)
			s.read("a", 1, 70, 80, 0)
		}, Violated, 1},
		{"answered as unknown and there", func(s *story) {
			s.write("a", 1, 10, 20, 8, history.Unknown)
			s.read("a", 1, 50, 60, 8)
		}, Held, 0},
		{"in doubt, and done after a higher token", func(s *story) {
			s.write("a", 1, 10, 20, 8, lost)
			s.read("b", 2, 50, 60, 0)
			s.read("b", 2, 70, 80, 8)
		}, Violated, 1},
		{"in doubt, and done until the higher token has returned", func(s *story) {
			s.write("a", 1, 10, 20, 8, lost)
			s.write("b", 2, 50, 100, 9, ok)
			s.read("o", 0, 60, 70, 8)
			s.read("o", 0, 80, 90, 9)
		}, Held, 0},
		{"sent and in doubt only after a higher token", func(s *story) {
			s.read("b", 2, 10, 20, 0)
			s.write("a", 1, 30, 40, 8, lost)
			s.read("b", 2, 50, 60, 8)
		}, Violated, 1},
		{"a read in doubt raises the mark, or not", func(s *story) {
			s.operate("b", 10, 20, history.Invoke{Kind: history.Read, Token: 2}, lost, 0)
			s.write("a", 1, 30, 40, 8, ok)
			s.write("a", 1, 50, 60, 9, refused)
		}, Held, 0},
		{"registers have marks of their own", func(s *story) {
			s.operate("b", 10, 20, history.Invoke{Kind: history.Write, Register: "y", Token: 2, Value: 7}, ok, 0)
			s.write("a", 1, 30, 40, 8, ok)
		}, Held, 0},
		{"a cut does not forget the mark", func(s *story) {
			s.write("b", 2, 10, 20, 7, ok)
			s.read("b", 2, 30, 40, 7)
			s.write("a", 1, 50, 60, 8, ok)
			s.read("a", 1, 70, 80, 8)
		}, Violated, 1},
		{"a refused one is no cut", func(s *story) {
			s.write("b", 2, 10, 20, 7, ok)
			s.write("a", 1, 30, 40, 8, refused)
			s.read("b", 2, 50, 60, 7)
		}, Held, 0},
		{"an onlooker's is no cut", func(s *story) {
			s.write("b", 2, 10, 20, 7, ok)
			s.read("o", 0, 30, 40, 7)
			s.write("a", 1, 50, 60, 8, ok)
		}, Violated, 1},
		{"touching another is not alone", func(s *story) {
			s.write("a", 1, 10, 20, 7, ok)
			s.write("b", 2, 20, 30, 8, ok)
			s.read("b", 2, 40, 50, 8)
		}, Held, 0},
		{"touching, in the other order", func(s *story) {
			s.write("b", 2, 10, 20, 8, ok)
			s.write("a", 1, 20, 30, 7, ok)
			s.read("b", 2, 40, 50, 8)
		}, Held, 0},
		{"nobody", func(*story) {}, Undecided, 0},
		{"lost by the store", func(s *story) { loss(s); s.write("a", 1, 10, 20, 7, ok); s.read("a", 1, 2500, 2600, 0) }, Expected, 1},
		{"lost by itself", func(s *story) { loss(s); s.write("a", 1, 10, 20, 7, ok); s.read("a", 1, 1000, 1100, 0) }, Violated, 1},
		{"lost by the store, beside one in doubt", func(s *story) {
			loss(s)
			s.write("a", 1, 10, 20, 7, ok)
			s.write("a", 1, 30, 40, 8, lost)
			s.read("a", 1, 2500, 2600, 0)
		}, Expected, 1},
		{"lost by itself, beside one in doubt", func(s *story) {
			loss(s)
			s.write("a", 1, 10, 20, 7, ok)
			s.write("a", 1, 30, 40, 8, lost)
			s.read("a", 1, 1000, 1100, 0)
		}, Violated, 1},
	})
}

// A long history with many operations in doubt is judged at all, and soon.
func TestALongHistoryOfARegisterIsJudged(t *testing.T) {
	long := func(spoil bool) *story {
		s, now := opening(4000000), 0
		value, last := int64(0), int64(0)
		for token := uint64(1); token <= 100; token++ {
			for i := range 100 {
				now += 10
				value++
				switch {
				case i%20 == 19:
					s.write("a", token, now, now+5, value, "")
				case i%2 == 0:
					s.write("a", token, now, now+5, value, history.OK)
					last = value
				case spoil && token == 50 && i == 51:
					s.read("a", token, now, now+5, last-1)
				case i%20 != 1: // what was in doubt may have come late
					s.read("a", token, now, now+5, last)
				}
			}
		}
		return s
	}
	began := time.Now()
	if v, n := verdictOf(t, long(false), "register"); v != Held {
		t.Errorf("%s with %d findings", v, n)
	}
	if v, n := verdictOf(t, long(true), "register"); v != Violated || n != 1 {
		t.Errorf("%s with %d findings of a history with a wrong read", v, n)
	}
	t.Log(time.Since(began))
}

func TestASearchThatDoesNotEndIsUndecided(t *testing.T) {
	s := opening(100000)
	for i := range 26 { // all at once, and a read that no order explains
		s.write(fmt.Sprint("p", i), 1, 10, 90000, int64(i+1), history.OK)
	}
	s.read("o", 0, 95000, 95001, 77)
	result, err := Check(s.events, Options{Timeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if v := result.Row("register").Verdict; v != Undecided {
		t.Errorf("%s", v)
	}
}

func TestCounter(t *testing.T) {
	const ok, lost = history.OK, ""
	tellings(t, "counter", []telling{
		{"one after the other", func(s *story) {
			s.count("a", 1, 10, 0, ok)
			s.count("b", 2, 20, 1, ok)
			s.countRead("b", 2, 30, 2)
		}, Held, 0},
		{"both from the same", func(s *story) { s.count("a", 1, 10, 0, ok); s.count("b", 2, 20, 0, ok) }, Violated, 1},
		{"three from the same", func(s *story) {
			s.count("a", 1, 10, 0, ok)
			s.count("b", 2, 20, 0, ok)
			s.count("c", 3, 30, 0, ok)
		}, Violated, 2},
		{"one in doubt from the same", func(s *story) { s.count("a", 1, 10, 0, lost); s.count("b", 2, 20, 0, ok) }, Held, 0},
		{"one refused from the same", func(s *story) { s.count("a", 1, 10, 0, history.Refused); s.count("b", 2, 20, 0, ok) }, Held, 0},
		{"fewer in the end", func(s *story) { s.count("a", 1, 10, 0, ok); s.countRead("a", 1, 20, 0) }, Violated, 1},
		{"more in the end", func(s *story) { s.count("a", 1, 10, 0, ok); s.countRead("a", 1, 20, 2) }, Violated, 1},
		{"more by one in doubt", func(s *story) {
			s.count("a", 1, 10, 0, ok)
			s.count("a", 1, 15, 1, lost)
			s.countRead("a", 1, 20, 2)
		}, Held, 0},
		{"more than is in doubt", func(s *story) {
			s.count("a", 1, 10, 0, ok)
			s.count("a", 1, 15, 1, lost)
			s.countRead("a", 1, 20, 3)
		}, Violated, 1},
		{"the end is the last read", func(s *story) {
			s.count("a", 1, 10, 0, ok)
			s.countRead("a", 1, 20, 1)
			s.countRead("a", 1, 30, 0)
		}, Violated, 1},
		{"no end before the last write", func(s *story) { s.countRead("a", 1, 13, 0); s.count("a", 1, 10, 0, ok) }, Held, 0},
		{"an end just after the last write", func(s *story) { s.countRead("a", 1, 14, 0); s.count("a", 1, 10, 0, ok) }, Violated, 1},
		{"another register is no counter", func(s *story) { s.write("a", 1, 10, 11, 5, ok); s.write("a", 1, 12, 13, 5, ok) }, Undecided, 0},
		{"a read is no increment", func(s *story) { s.countRead("a", 1, 10, 0) }, Undecided, 0},
		{"lost by the store", func(s *story) { loss(s); s.count("a", 1, 10, 0, ok); s.count("b", 1, 2100, 0, ok) }, Expected, 1},
		{"lost by the store, as seen late", func(s *story) { loss(s); s.count("a", 1, 10, 0, ok); s.count("b", 1, 5000, 0, ok) }, Expected, 1},
		{"lost by itself", func(s *story) { loss(s); s.count("a", 1, 10, 0, ok); s.count("b", 1, 1900, 0, ok) }, Violated, 1},
		{"a read in doubt adds nothing", func(s *story) {
			s.count("a", 1, 10, 0, ok)
			s.operate("a", 15, 16, history.Invoke{Kind: history.Read, Token: 1, Register: "n", Counter: true}, lost, 0)
			s.countRead("a", 1, 20, 2)
		}, Violated, 1},
		{"a refused read tells nothing", func(s *story) {
			s.count("a", 1, 10, 0, ok)
			s.countRead("a", 1, 20, 1)
			s.operate("a", 30, 31, history.Invoke{Kind: history.Read, Token: 1, Register: "n", Counter: true}, history.Refused, 0)
		}, Held, 0},
		{"the end lost by the store", func(s *story) { loss(s); s.count("a", 1, 10, 0, ok); s.countRead("a", 1, 2100, 0) }, Expected, 1},
		{"the end lost by itself", func(s *story) { loss(s); s.count("a", 1, 10, 0, ok); s.countRead("a", 1, 1900, 0) }, Violated, 1},
	})
}

func TestStaleRefused(t *testing.T) {
	const ok, refused = history.OK, history.Refused
	tellings(t, "stale-refused", []telling{
		{"refused", func(s *story) { s.write("b", 2, 10, 20, 7, ok); s.write("a", 1, 30, 40, 8, refused) }, Held, 0},
		{"accepted", func(s *story) { s.write("b", 2, 10, 20, 7, ok); s.write("a", 1, 30, 40, 8, ok) }, Violated, 1},
		{"accepted while the higher was under way", func(s *story) { s.write("b", 2, 10, 30, 7, ok); s.write("a", 1, 30, 40, 8, ok) }, Held, 0},
		{"just after", func(s *story) { s.write("b", 2, 10, 29, 7, ok); s.write("a", 1, 30, 40, 8, ok) }, Violated, 1},
		{"the same token", func(s *story) { s.write("a", 1, 10, 20, 7, ok); s.write("a", 1, 30, 40, 8, ok) }, Held, 0},
		{"an onlooker", func(s *story) { s.write("a", 1, 10, 20, 7, ok); s.read("o", 0, 30, 40, 7) }, Held, 0},
		{"the higher one was refused itself", func(s *story) { s.write("b", 2, 10, 20, 7, refused); s.write("a", 1, 30, 40, 8, ok) }, Held, 0},
		{"the highest of several", func(s *story) {
			s.write("b", 2, 10, 20, 7, ok)
			s.write("c", 3, 11, 19, 7, ok)
			s.write("b", 2, 30, 40, 8, ok)
		}, Violated, 1},
		{"another register", func(s *story) {
			s.operate("b", 10, 20, history.Invoke{Kind: history.Write, Register: "y", Token: 2}, ok, 0)
			s.write("a", 1, 30, 40, 8, ok)
		}, Held, 0},
		{"nobody", func(*story) {}, Undecided, 0},
		{"lost by the store", func(s *story) { loss(s); s.write("b", 2, 10, 20, 7, ok); s.write("a", 1, 2500, 2600, 8, ok) }, Expected, 1},
		{"lost by itself", func(s *story) { loss(s); s.write("b", 2, 10, 20, 7, ok); s.write("a", 1, 1000, 1100, 8, ok) }, Violated, 1},
	})
}
