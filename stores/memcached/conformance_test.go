package memcached

import (
	"errors"
	"testing"

	"github.com/bradfitz/gomemcache/memcache"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/testserver"
	"github.com/tenure-go/tenure/tenuretest"
)

func TestConformance(t *testing.T) {
	addr := testserver.StartMemcached(t).Addr
	open := func(t *testing.T) tenure.Store { return openStore(t, addr) }
	remove := func(t *testing.T, election string) {
		if err := memcache.New(addr).Delete(config{prefix: defaultPrefix}.key(election)); err != nil &&
			!errors.Is(err, memcache.ErrCacheMiss) {
			t.Fatal(err)
		}
	}
	tenuretest.Run(t, open, tenuretest.WithSecond(open), tenuretest.WithDelete(remove))
}
