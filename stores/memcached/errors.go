package memcached

import (
	"errors"
	"net"
	"strings"

	"github.com/bradfitz/gomemcache/memcache"

	"github.com/tenure-go/tenure"
)

// failed says what is known of a request, whether it reads or writes.
func failed(err error) error {
	var dial *net.OpError
	var slow *memcache.ConnectTimeoutError
	switch {
	case errors.Is(err, memcache.ErrNoServers), errors.Is(err, memcache.ErrMalformedKey):
		return tenure.Permanent(err)
	case errors.As(err, &slow), errors.As(err, &dial) && dial.Op == "dial": // nothing was sent
		return tenure.NotApplied(err, 0)
	}
	return err
}

// refused is for a write that never began, since what it would replace could not be read.
func refused(err error) error {
	if errors.Is(err, tenure.ErrPermanent) || errors.Is(err, tenure.ErrNotApplied) {
		return err
	}
	return tenure.NotApplied(err, 0)
}

// written is for a write that has begun. What the client has no name for it quotes.
func written(err error) error {
	for _, changed := range []error{memcache.ErrCASConflict, memcache.ErrNotStored, memcache.ErrCacheMiss} {
		if errors.Is(err, changed) {
			return tenure.ErrConflict
		}
	}
	switch {
	case strings.Contains(err.Error(), `"SERVER_ERROR object too large`):
		return tenure.Permanent(err)
	case strings.Contains(err.Error(), `"SERVER_ERROR out of memory`):
		return tenure.NotApplied(err, 0)
	}
	return failed(err)
}
