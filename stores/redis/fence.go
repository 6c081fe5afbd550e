package redis

import (
	"context"
	_ "embed" // for the guard
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

//go:embed fence.lua
var guard string

var setScript = NewFencedScript(`return redis.call('SET', KEYS[1], ARGV[1])`)

// Fence guards what a leader writes into Redis: a write is carried out only if its token is at least the highest one
// that the fence has seen. So a leader that was deposed and does not know it, or whose write was held up on the way,
// changes nothing any more once its successor has written, or raised the fence.
//
// The highest token is kept under the fence's own key, for ever. Whatever loses that key (an eviction, a fail-over to a
// replica that had not yet got it) lowers the fence until the next write of the leader. All methods are safe for
// concurrent use.
type Fence struct {
	client redis.UniversalClient
	key    string
}

// NewFence returns the fence that keeps the highest token under the key. In a Cluster what is guarded has to share the
// key's slot: a fence "{orders}:fence" guards keys such as "{orders}:42". The server may be another one than the
// election's.
func NewFence(client redis.UniversalClient, key string) *Fence { return &Fence{client, key} }

// Raise shuts out all tokens below this one. A leader that calls it before its work shuts out its predecessors though
// it has not yet written anything.
//
// The error is or wraps [ErrFenced] if the token itself is shut out. Any other error means that the outcome is unknown.
func (f *Fence) Raise(ctx context.Context, token uint64) error {
	_, err := raiseFence.Run(ctx, f, token, nil)
	return err
}

// Set sets a key to a value, as SET does. For errors see [FencedScript.Run].
func (f *Fence) Set(ctx context.Context, token uint64, key string, value any) error {
	_, err := setScript.Run(ctx, f, token, []string{key}, value)
	return err
}

var raiseFence = NewFencedScript("return redis.status_reply('OK')")

// FencedScript is a Lua script that a [Fence] guards.
type FencedScript struct {
	script *script
	err    error
}

// NewFencedScript returns the script with a guard before it. The script finds its KEYS and ARGV as usual. It must not
// begin with a shebang line; then Run fails.
func NewFencedScript(source string) *FencedScript {
	if strings.HasPrefix(source, "#!") {
		return &FencedScript{err: errors.New("redis: a fenced script must not begin with a shebang line")}
	}
	return &FencedScript{script: newScript(guard + source)}
}

// Run carries out the script on behalf of the term with the token, and returns its reply, nil for a nil reply. The
// check and the script are one step for everybody else.
//
// The error is or wraps [ErrFenced] if the token is out of date, and the script was not carried out. Any other error
// means that the outcome is unknown, unless the script knows better; the client does not repeat the request by itself.
func (s *FencedScript) Run(ctx context.Context, f *Fence, token uint64, keys []string, args ...any) (any, error) {
	if s.err != nil {
		return nil, s.err
	}
	keys = append(append(make([]string, 0, len(keys)+1), keys...), f.key)
	args = append(append(make([]any, 0, len(args)+1), args...), token)
	reply, err := call(ctx, false, func() (any, error) { return s.script.eval(ctx, f.client, keys, args...) })
	if err == nil {
		return reply, nil
	}
	if redis.HasErrorPrefix(err, "FENCED ") {
		err = fmt.Errorf("%w: %w", ErrFenced, err)
	}
	return nil, fmt.Errorf("redis: writing behind fence %q: %w", f.key, err)
}
