package natskv

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

// resubscribeAfter is how long after a refused subscription the connection is made anew, and half as long again at
// most, so that not all clients come back at once.
const resubscribeAfter = time.Second

// resubscriber has a connection subscribe again to what the server has refused, until it does not. The server removes
// the subscriptions of a user whose rights are taken away, and neither it nor the client restores them when the rights
// are back: the connection stands, but every answer is lost, and so is the watch. A new connection subscribes to all
// anew.
type resubscriber struct{ due atomic.Bool }

// heed is told of every error that the server sends without closing the connection.
func (r *resubscriber) heed(conn *nats.Conn, _ *nats.Subscription, err error) {
	if !errors.Is(err, nats.ErrPermissionViolation) || !strings.Contains(err.Error(), "Subscription to ") {
		return
	}
	if !r.due.CompareAndSwap(false, true) {
		return // of several subscriptions
	}
	time.AfterFunc(resubscribeAfter+rand.N(resubscribeAfter/2), func() {
		r.due.Store(false)
		_ = conn.ForceReconnect() // fails only if the connection is closed
	})
}
