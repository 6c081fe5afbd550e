package memcached

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bradfitz/gomemcache/memcache"

	"github.com/tenure-go/tenure"
)

func setItem(s *Store, election, text string) error {
	return s.client.Set(&memcache.Item{Key: s.config.key(election), Value: []byte(text)})
}

func TestURL(t *testing.T) {
	for rawURL, want := range map[string]location{
		"memcached://a":                        {[]string{"a:11211"}, "tenure/", memcache.DefaultTimeout},
		"memcached://a/":                       {[]string{"a:11211"}, "tenure/", memcache.DefaultTimeout},
		"memcached://b:1,a/p/":                 {[]string{"a:11211", "b:1"}, "p/", memcache.DefaultTimeout},
		"memcached://[::1],a:2/p/q?timeout=2s": {[]string{"[::1]:11211", "a:2"}, "p/q/", 2 * time.Second},
	} {
		got, err := parse(rawURL)
		if err != nil || !slices.Equal(got.servers, want.servers) || got.prefix != want.prefix || got.timeout != want.timeout {
			t.Errorf("%s: %+v, %v, want %+v", rawURL, got, err, want)
		}
	}
}

func TestWrongURL(t *testing.T) {
	for rawURL, want := range map[string]string{
		"redis://a":                                 "memcached://",
		"memcached://":                              "HOST",
		"memcached://a,,b":                          "HOST",
		"memcached://a:":                            "HOST",
		"memcached://a,a:11211":                     "twice",
		"memcached://user:secret@a":                 "without a user",
		"memcached://a?timeout=0s":                  "timeout",
		"memcached://a?timeout=soon":                "timeout",
		"memcached://a?timeout=1s&timeout=2s":       "repeated",
		"memcached://a?ttl=1s":                      `"ttl"`,
		"memcached://a/p?timeout=1s;x":              "parameters",
		"memcached://a/p#x":                         "want memcached://",
		"memcached://a/a%20b":                       "prefix",
		"memcached://a/" + strings.Repeat("p", 128): "prefix",
	} {
		_, err := Open(context.Background(), rawURL)
		if !errors.Is(err, tenure.ErrConfig) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %q", rawURL, err, want)
		}
	}
}

func TestOpenWithoutAServer(t *testing.T) {
	_, err := Open(t.Context(), "memcached://127.0.0.1:1")
	if err == nil || errors.Is(err, tenure.ErrPermanent) || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("the error is %v", err)
	}
	if _, err := New(nil); !errors.Is(err, tenure.ErrConfig) {
		t.Errorf("New without a client: %v", err)
	}
}

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

func TestSightings(t *testing.T) {
	at := func(token, renewals uint64) tenure.Snapshot {
		return tenure.Snapshot{Version: "v", Record: tenure.Record{Token: token, Renewals: renewals}}
	}
	for name, test := range map[string]struct {
		before, after tenure.Snapshot
		overtaken     bool
		lost          uint64
	}{
		"never there":              {tenure.Snapshot{}, tenure.Snapshot{}, false, 0},
		"renewed":                  {at(3, 1), at(3, 2), false, 0},
		"the same":                 {at(3, 1), at(3, 1), false, 0},
		"next term":                {at(3, 9), at(4, 0), false, 0},
		"gone":                     {at(3, 1), tenure.Snapshot{}, false, 1},
		"replaced":                 {at(3, 1), at(1, 1), false, 1},
		"gone back":                {at(3, 2), at(3, 1), false, 1},
		"gone, but older":          {at(3, 1), tenure.Snapshot{}, true, 0},
		"gone back, but older":     {at(3, 2), at(3, 1), true, 0},
		"overtaken by what it was": {at(3, 2), at(3, 3), true, 0},
	} {
		s := newSeen(nil)
		early := s.now()
		s.see("e", s.now(), test.before)
		since := early
		if !test.overtaken {
			since = s.now()
		}
		found := s.see("e", since, test.after)
		if s.lost() != test.lost {
			t.Errorf("%s: %d losses", name, s.lost())
		}
		if !found.Exists() && found.Record.Token != test.before.Record.Token {
			t.Errorf("%s: floor %d", name, found.Record.Token)
		}
	}
}
