package dualleader

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"
)

// ErrTimeout is what a call returns of which nothing was heard in time. Whether it was carried out is unknown.
var ErrTimeout = errors.New("i/o timeout")

// Forever is longer than any history.
const Forever = 24 * time.Hour

// Link is one process's way to the server. It is safe for concurrent use.
type Link struct {
	random *rand.Rand

	mu       sync.Mutex
	closed   chan struct{} // closed when the process has ended
	requests bool          // whether requests are lost
	replies  bool          // whether replies are
	slow     time.Duration // added to every reply
	snare    time.Duration // how late the reply to the next write is; zero for no later than others
	thaw     chan struct{} // closed when the process goes on; nil unless it is frozen
	written  int
}

func newLink(seed, process uint64) *Link {
	return &Link{random: rand.New(rand.NewPCG(seed, 0x11c+process)), closed: make(chan struct{})}
}

// Cut loses what is sent from now on: requests, replies or both.
func (l *Link) Cut(requests, replies bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests, l.replies = requests, replies
}

// Heal ends a partition, and replies are as fast again as they were.
func (l *Link) Heal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests, l.replies, l.slow, l.snare = false, false, 0, 0
}

// Slow makes every reply from now on later by d.
func (l *Link) Slow(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.slow = d
}

// Snare waits for the next write that succeeds. Its reply arrives late, or never if that is [Forever], and nothing else
// passes from then on.
func (l *Link) Snare(late time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.snare = late
}

// Written is how many writes have succeeded.
func (l *Link) Written() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.written
}

// Freeze stops the process: none of its calls begins or returns until Thaw.
func (l *Link) Freeze() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.thaw = make(chan struct{})
}

// Thaw lets a frozen process go on.
func (l *Link) Thaw() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.thaw != nil {
		close(l.thaw)
		l.thaw = nil
	}
}

// Frozen waits while the process is frozen.
func (l *Link) Frozen() {
	l.mu.Lock()
	thaw := l.thaw
	l.mu.Unlock()
	if thaw != nil {
		<-thaw
	}
}

// Close ends the process: what it still waits for fails.
func (l *Link) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.closed:
	default:
		close(l.closed)
	}
}

// Silent tells whether nothing arrives at the process.
func (l *Link) Silent() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.requests || l.replies || l.thaw != nil
}

// Call has the server carry out do, at one instant, and returns when its reply has arrived; with [ErrTimeout], or the
// cause of ctx, if none has within the timeout, zero for none. do reports whether it changed anything. It may be
// carried out after Call has returned.
func (l *Link) Call(ctx context.Context, timeout time.Duration, do func() (wrote bool)) error {
	l.Frozen()
	replied := make(chan struct{})
	if err := ctx.Err(); err != nil {
		return err
	}
	go l.travel(do, replied)
	if timeout == 0 {
		timeout = Forever
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	err := l.await(ctx, timer.C, replied)
	l.Frozen()
	return err
}

// await waits for a reply. A frozen process notices neither that nor a timeout, and finds a reply before a timeout when
// it wakes, so that the reply goes first.
func (l *Link) await(ctx context.Context, timeout <-chan time.Time, replied <-chan struct{}) error {
	var err error
	select {
	case <-replied:
		return nil
	case <-timeout:
		err = ErrTimeout
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-l.closed:
		return errClosed
	}
	l.Frozen()
	select {
	case <-replied:
		return nil
	default:
		return err
	}
}

var errClosed = errors.New("use of closed network connection")

// travel takes a request to the server and the reply back.
func (l *Link) travel(do func() bool, replied chan<- struct{}) {
	if !l.sleep(l.latency()) || l.lost(true) {
		return
	}
	late, snared := l.reply(do())
	if late >= Forever || !l.sleep(late) || !snared && l.lost(false) {
		return
	}
	close(replied)
}

// reply says how late the reply to a request that was carried out will be.
func (l *Link) reply(wrote bool) (late time.Duration, snared bool) {
	late = l.latency()
	l.mu.Lock()
	defer l.mu.Unlock()
	late += l.slow
	if !wrote {
		return late, false
	}
	l.written++
	if l.snare == 0 {
		return late, false
	}
	late, l.snare = l.snare, 0
	l.requests, l.replies = true, true
	return late, true
}

// latency is that of one direction: a network between two zones.
func (l *Link) latency() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Millisecond + time.Duration(l.random.Int64N(int64(time.Millisecond)))
}

func (l *Link) lost(request bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if request {
		return l.requests
	}
	return l.replies
}

// sleep returns false if the process has ended.
func (l *Link) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-l.closed:
		return false
	}
}
