package probe

import (
	"context"
	"time"

	"github.com/tenure-go/tenure"
)

// Watch checks whether the store pushes changes.
func (p *Probe) Watch(ctx context.Context) (Finding, error) {
	const check = "watch"
	watcher, ok := p.Store.(tenure.Watcher)
	if !ok {
		return found(check, Note, "this store pushes no changes: candidates poll"), nil
	}
	ctx, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	seen := make(chan tenure.Version, 64)
	stop, err := watcher.Watch(ctx, p.Election, func(s tenure.Snapshot, _ error) {
		select {
		case seen <- s.Version:
		default: // far more than the probe itself writes
		}
	})
	if err != nil {
		return found(check, Warning, "changes are not pushed, so candidates poll: %v", err), nil
	}
	defer stop()
	if !arrives(ctx, seen, p.now.Version) {
		return found(check, Warning, "the watch did not begin with the current state within %v", p.Timeout), nil
	}
	start := time.Now()
	if err := p.advance(ctx); err != nil {
		return Finding{}, err
	}
	if !arrives(ctx, seen, p.now.Version) {
		return found(check, Warning, "a change was not pushed within %v", p.Timeout), nil
	}
	return found(check, OK, "a change was pushed within %v of the call that made it", Round(time.Since(start))), nil
}

func arrives(ctx context.Context, seen <-chan tenure.Version, wanted tenure.Version) bool {
	for {
		select {
		case v := <-seen:
			if v == wanted {
				return true
			}
		case <-ctx.Done():
			return false
		}
	}
}
