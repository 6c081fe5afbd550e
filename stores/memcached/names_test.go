package memcached

import (
	"strings"
	"testing"
)

func TestKeysAreDistinctAndLegal(t *testing.T) {
	long := strings.Repeat("/", 255)
	keys := map[string]string{}
	for _, election := range []string{"a", "a b", "a%20b", "a*", "選挙", long, long[1:] + "a", long[1:]} {
		key := config{prefix: defaultPrefix}.key(election)
		if other, taken := keys[key]; taken {
			t.Errorf("%q and %q share the key %q", election, other, key)
		}
		keys[key] = election
		if len(key) > keyLimit || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
			t.Errorf("%q has the key %q", election, key)
		}
	}
}
