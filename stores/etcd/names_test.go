package etcd

import (
	"strings"
	"testing"
)

func TestNamesAreReversible(t *testing.T) {
	n := names{"a/"}
	for _, name := range []string{
		"billing", "team/billing", "floor", "/", "//", "elections/x", ".", "..", " ", "é", "選挙", "*", "%2F", "\\",
		strings.Repeat("選", 85),
	} {
		k := n.key(name)
		if back, ok := n.electionOf(k); !ok || back != name || k == n.floor() {
			t.Errorf("the key %q of %q stands for %q, %v", k, name, back, ok)
		}
	}
}

func TestForeignKeysAreNoElections(t *testing.T) {
	n := names{"a/"}
	for _, k := range []string{"", "a/", n.floor(), "a/elections", "a/elections/", "b/elections/x", "a/elections/\x01", "a/elections/\xff"} {
		if name, ok := n.electionOf(k); ok {
			t.Errorf("the key %q stands for %q", k, name)
		}
	}
}
