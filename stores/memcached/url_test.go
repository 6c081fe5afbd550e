package memcached

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bradfitz/gomemcache/memcache"

	"github.com/tenure-go/tenure/internal/storetest"
)

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
	storetest.WrongURLs(t, Open, map[string]string{
		"redis://a":                                 "memcached://",
		"memcached://":                              "HOST",
		"memcached://a,,b":                          "HOST",
		"memcached://a:":                            "HOST",
		"memcached://a,a:11211":                     "twice",
		"memcached://user:secret@a":                 "without a user",
		"memcached://a?timeout=0s":                  "must be positive",
		"memcached://a?timeout=soon":                "is no duration: give it a unit",
		"memcached://a?timeout=1s&timeout=2s":       "repeated",
		"memcached://a?ttl=1s":                      `"ttl"`,
		"memcached://a/p?timeout=1s;x":              "parameters",
		"memcached://a/p#x":                         "want memcached://",
		"memcached://a/a%20b":                       "prefix",
		"memcached://a/" + strings.Repeat("p", 128): "prefix",
	})
}
