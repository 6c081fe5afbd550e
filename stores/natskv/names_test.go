package natskv

import (
	"regexp"
	"strings"
	"testing"
)

// validKey is what the client library accepts as a key.
var validKey = regexp.MustCompile(`^[-/_=.a-zA-Z0-9]+$`)

func TestKeysAreReversible(t *testing.T) {
	for _, name := range []string{
		"billing", "Billing", "team/billing", "team.billing.nightly", "a-b_c",
		".", "..", "...", ".a", "a.", "a..b", "a.b.", "=", "=2E", "a=floor", "=floor", "==", "*", ">", "a.*", "a.>",
		" ", "a b", "é", "選挙", "a\u200bb", "$KV", "%2F", "\\", "~", "#", "?", strings.Repeat("選", 85),
		strings.Repeat(".", 255), strings.Repeat("a.", 127) + "a",
	} {
		k := key(name)
		if !validKey.MatchString(k) || strings.HasPrefix(k, ".") || strings.HasSuffix(k, ".") || strings.Contains(k, "..") {
			t.Errorf("the key of %q is %q, which NATS does not take", name, k)
		}
		if k == floorKey {
			t.Errorf("the key of %q is that of the floor", name)
		}
		if back, ok := electionOf(k); !ok || back != name {
			t.Errorf("the key %q of %q stands for %q, %v", k, name, back, ok)
		}
	}
}

func TestKeysOfPlainNamesStayAsTheyAre(t *testing.T) {
	for name, want := range map[string]string{
		"billing": "billing", "team/Billing-2": "team/Billing-2", "team.billing": "team.billing",
		"a b": "a=20b", ".a": "=2Ea", "a..b": "a=2E=2Eb", "=": "=3D",
	} {
		if got := key(name); got != want {
			t.Errorf("the key of %q is %q, want %q", name, got, want)
		}
	}
}

func TestForeignKeysAreNoElections(t *testing.T) {
	for _, k := range []string{"", floorKey, "=", "a=", "a=2", "a=zz", "=61", "a=2e", "a=2Eb", "a b", "é"} {
		if name, ok := electionOf(k); ok {
			t.Errorf("the key %q stands for %q", k, name)
		}
	}
}
