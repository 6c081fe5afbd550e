package redis

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure"
)

// ErrFenced is returned by a [Fence] for a token that is lower than the highest one that it has seen. Nothing was
// written.
var ErrFenced = errors.New("redis: the token is out of date")

var errClosed = tenure.Permanent(errors.New("the store is closed"))

// refusals are the codes of errors by which a server says that it has not carried out a command, for now.
var refusals = map[string]bool{
	"LOADING":     true, // it reads its data at start
	"BUSY":        true, // a script does not end
	"CLUSTERDOWN": true, // slots are not served
	"TRYAGAIN":    true, // the keys of a slot are on their way to another master
	"MOVED":       true, // and ASK: the slot moved faster than the client could follow
	"ASK":         true,
	"MASTERDOWN":  true,
	"READONLY":    true, // a replica, perhaps the master of before
	"OOM":         true, // maxmemory is reached, and nothing may be evicted
	"MISCONF":     true, // it cannot write its snapshot or its log
	"NOREPLICAS":  true, // min-replicas-to-write
}

// hopeless are the codes of errors that somebody has to repair.
var hopeless = map[string]bool{
	"NOPERM":      true,
	"NOAUTH":      true,
	"WRONGPASS":   true,
	"WRONGTYPE":   true,
	"CROSSSLOT":   true,
	"DENIED":      true, // protected mode
	"FOREIGN":     true, // of our scripts
	"UNSUPPORTED": true, // of our scripts
}

// forbidden is how Redis 7 begins the error of a script that calls what its user may not. Of what our scripts call only
// the publishing comes after a write, and its errors they report in another way.
const forbidden = "ERR The user executing the script can't "

// failed says what is known of a request that failed. A command is sent once, so that what the server says is true of
// all that was sent.
func failed(err error) error {
	var reply redis.Error
	switch {
	case errors.Is(err, redis.ErrClosed):
		return tenure.Permanent(err)
	case unsent(err):
		return tenure.NotApplied(err, 0)
	case !errors.As(err, &reply):
		return err
	}
	switch text := reply.Error(); {
	case refusals[code(text)], strings.HasPrefix(text, "ERR max number of clients"):
		return tenure.NotApplied(err, 0)
	case hopeless[code(text)], strings.HasPrefix(text, "ERR unknown command"), strings.HasPrefix(text, forbidden):
		return tenure.Permanent(err)
	}
	return err
}

// unsent reports whether the request never got as far as a connection.
func unsent(err error) bool {
	var dial *net.OpError
	return errors.Is(err, redis.ErrPoolTimeout) || errors.Is(err, redis.ErrPoolExhausted) ||
		errors.As(err, &dial) && dial.Op == "dial"
}

// inScript finds the code of a command that a script of a Redis before 7.0 has called: it is somewhere in the text.
var inScript = regexp.MustCompile(`^ERR Error running script .*: -?([A-Z]+) `)

// code returns the first word of a server's error.
func code(text string) string {
	if match := inScript.FindStringSubmatch(text); match != nil {
		return match[1]
	}
	word, _, _ := strings.Cut(text, " ")
	return word
}

// damaged is for a record that cannot be read.
func damaged(key string, err error) error {
	return tenure.Permanent(fmt.Errorf("key %q: %w", key, err))
}
