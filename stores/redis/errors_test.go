package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/tenure-go/tenure"
)

// replied is an error as a server sends it.
type replied string

func (e replied) Error() string { return string(e) }
func (replied) RedisError()     {}

// What a server says of a command that was sent once tells what became of it, and what else goes wrong does not.
func TestErrorsSayWhatIsKnown(t *testing.T) {
	for text, want := range map[string]error{
		"LOADING Redis is loading the dataset in memory":                                         tenure.ErrNotApplied,
		"BUSY Redis is busy running a script.":                                                   tenure.ErrNotApplied,
		"CLUSTERDOWN Hash slot not served":                                                       tenure.ErrNotApplied,
		"TRYAGAIN Multiple keys request during rehashing of slot":                                tenure.ErrNotApplied,
		"MOVED 3999 127.0.0.1:6381":                                                              tenure.ErrNotApplied,
		"ASK 3999 127.0.0.1:6381":                                                                tenure.ErrNotApplied,
		"MASTERDOWN Link with MASTER is down":                                                    tenure.ErrNotApplied,
		"READONLY You can't write against a read only replica. script: 1f, on @user_script:8.":   tenure.ErrNotApplied,
		"OOM command not allowed when used memory > 'maxmemory'. script: 1f, on @user_script:8.": tenure.ErrNotApplied,
		"ERR Error running script (call to f_1f): @user_script:8: @user_script: 8: -OOM command not allowed when used memory > 'maxmemory'.": tenure.ErrNotApplied,
		"ERR Error running script (call to f_1f): @user_script:8: -READONLY You can't write against a read only replica.":                    tenure.ErrNotApplied,
		"MISCONF Redis is configured to save RDB snapshots, but is currently not able to persist on disk.":                                   tenure.ErrNotApplied,
		"NOREPLICAS Not enough good replicas to write.":                                                                                      tenure.ErrNotApplied,
		"ERR max number of clients reached":                                                                     tenure.ErrNotApplied,
		"NOPERM this user has no permissions to run the 'evalsha' command":                                      tenure.ErrPermanent,
		"NOAUTH Authentication required.":                                                                       tenure.ErrPermanent,
		"WRONGPASS invalid username-password pair or user is disabled.":                                         tenure.ErrPermanent,
		"WRONGTYPE Operation against a key holding the wrong kind of value script: 1f, on @user_script:8.":      tenure.ErrPermanent,
		"ERR unknown command 'EVALSHA', with args beginning with:":                                              tenure.ErrPermanent,
		"ERR The user executing the script can't run this command or subcommand script: 1f, on @user_script:8.": tenure.ErrPermanent,
		"UNPUBLISHED the record is written, but: ERR The user executing the script can't run this command":      nil,
		"FOREIGN the hash has no version and record of an election":                                             tenure.ErrPermanent,
		"UNPUBLISHED the record is written, but: NOPERM":                                                        nil,
		"ERR Error running script (call to f_1f): @user_script:8: Script killed by user with SCRIPT KILL...":    nil,
		"UNKILLABLE Sorry the script already executed write commands against the dataset.":                      nil,
		"ERR something that nobody has ever seen":                                                               nil,
		"EXECABORT Transaction discarded because of previous errors.":                                           nil,
		"UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)":          nil,
	} {
		checkError(t, replied(text), want)
	}
	checkError(t, &net.OpError{Op: "dial", Err: errors.New("connection refused")}, tenure.ErrNotApplied)
	checkError(t, redis.ErrPoolTimeout, tenure.ErrNotApplied)
	checkError(t, redis.ErrClosed, tenure.ErrPermanent)
	checkError(t, &net.OpError{Op: "read", Err: errors.New("connection reset by peer")}, nil)
	checkError(t, context.DeadlineExceeded, nil)
}

// checkError wants the error to be mapped to one of those, to none if want is nil.
func checkError(t *testing.T, err, want error) {
	t.Helper()
	got := failed(fmt.Errorf("wrapped: %w", err))
	if !errors.Is(got, err) {
		t.Errorf("%v became %v, which hides it", err, got)
	}
	if want == nil && !unknown(got) || want != nil && !errors.Is(got, want) {
		t.Errorf("%v became %v, want %v", err, got, want)
	}
}
