package memcached

import (
	"bytes"
	"testing"

	"github.com/bradfitz/gomemcache/memcache"
)

// openStore opens a store at addr, with a timeout that a busy machine keeps.
func openStore(t *testing.T, addr string, options ...Option) *Store {
	t.Helper()
	s, err := Open(t.Context(), "memcached://"+addr+"?timeout=5s", options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func setItem(s *Store, election, text string) error {
	return s.client.Set(&memcache.Item{Key: s.config.key(election), Value: []byte(text)})
}

func command(verb string) func([]byte) bool {
	return func(request []byte) bool { return bytes.HasPrefix(request, []byte(verb+" ")) }
}
