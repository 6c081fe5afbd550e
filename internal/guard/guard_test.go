package guard

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
)

var errSuperseded = errors.New("superseded")

func enter(t *testing.T, rs *Rounds, token uint64) *Round {
	t.Helper()
	r, highest := rs.Enter(token)
	if r == nil || highest != token {
		t.Fatalf("token %d: highest is %d", token, highest)
	}
	return r
}

// A round waits for all earlier ones, in whatever order they end, and none below the highest begins.
func TestRoundsWaitForEarlierOnes(t *testing.T) { synctest.Test(t, waitForEarlierOnes) }

func waitForEarlierOnes(t *testing.T) {
	rs := NewRounds(errSuperseded)
	first, again := enter(t, rs, 1), enter(t, rs, 1)
	second, third := enter(t, rs, 2), enter(t, rs, 3)
	if first != again || rs.Highest() != 3 {
		t.Errorf("requests of one token have rounds of their own, or %d is not 3", rs.Highest())
	}
	if r, highest := rs.Enter(2); r != nil || highest != 3 {
		t.Errorf("token 2 entered after 3, highest %d", highest)
	}
	if err := second.Await(t.Context()); !errors.Is(err, errSuperseded) {
		t.Errorf("the wait of a superseded round: %v", err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for i, leave := range []*Round{second, first, again} {
		if err := third.Await(over); !errors.Is(err, context.Canceled) {
			t.Errorf("%d requests have left, and the wait is over: %v", i, err)
		}
		rs.Leave(leave)
	}
	if err := third.Await(t.Context()); err != nil {
		t.Errorf("all have left: %v", err)
	}
	rs.Leave(third)
	enter(t, rs, 3)
}

func TestWorkEndsWithItsRound(t *testing.T) { synctest.Test(t, workEndsWithItsRound) }

func workEndsWithItsRound(t *testing.T) {
	rs := NewRounds(errSuperseded)
	work, end := enter(t, rs, 1).Work(t.Context())
	defer end()
	if work.Err() != nil {
		t.Fatal("it ended before it was superseded")
	}
	enter(t, rs, 2)
	synctest.Wait()
	if err := context.Cause(work); !errors.Is(err, errSuperseded) {
		t.Errorf("it ended with %v", err)
	}
}

func TestNames(t *testing.T) {
	for _, name := range []string{"billing", "a/b c", "ü+%"} {
		text := EncodeName(name)
		if got, err := DecodeName(text); err != nil || got != name || strings.ContainsAny(text, "/ +ü") {
			t.Errorf("%q is sent as %q and read as %q, %v", name, text, got, err)
		}
	}
	for _, text := range []string{"", "%zz"} {
		if name, err := DecodeName(text); err == nil {
			t.Errorf("%q is read as %q", text, name)
		}
	}
}

func TestTokens(t *testing.T) {
	if token, err := ParseToken("9007199254740991"); err != nil || token != 9007199254740991 {
		t.Errorf("the highest token: %d, %v", token, err)
	}
	for _, text := range []string{"", "0", "01", "+1", "-1", " 1", "1.0", "9007199254740992", "x"} {
		if token, err := ParseToken(text); err == nil || !strings.Contains(err.Error(), "from 1 to 9007199254740991") {
			t.Errorf("%q is read as %d, %v", text, token, err)
		}
	}
}
