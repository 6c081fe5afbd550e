package postgres

import (
	"context"
	"fmt"

	"github.com/tenure-go/tenure"
)

// OpenAdvisory returns the store at a URL with mode=advisory, over a pool of its own, once the server has answered. The
// form of the URL and the errors are those of [Open]. A pooler that shares the server's sessions between its clients is
// refused with [tenure.ErrPermanent].
func OpenAdvisory(ctx context.Context, rawURL string, options ...Option) (*Advisory, error) {
	a, err := openAdvisory(ctx, rawURL, options)
	if err != nil {
		return nil, fmt.Errorf("postgres: opening: %w", err)
	}
	return a, nil
}

func openAdvisory(ctx context.Context, rawURL string, options []Option) (*Advisory, error) {
	t, err := parse(rawURL)
	if err != nil {
		return nil, err
	}
	if t.mode != modeAdvisory {
		return nil, fmt.Errorf("%w: mode=%s: OpenAdvisory is for mode=%s", tenure.ErrConfig, t.mode, modeAdvisory)
	}
	pool, err := t.newPool(ctx)
	if err != nil {
		return nil, err
	}
	a, err := newAdvisory(pool, append(t.options, options...))
	if err == nil {
		a.table.owned = true
		err = t.prepare(ctx, a.table)
	}
	if err == nil {
		err = outcome(a.probe(ctx))
	}
	if err != nil {
		pool.Close()
		return nil, t.redact(err)
	}
	return a, nil
}

// The values of the URL's parameter mode.
const (
	// ModeTable: the URL is for Open.
	ModeTable = modeTable
	// ModeAdvisory: the URL is for OpenAdvisory.
	ModeAdvisory = modeAdvisory
)

// Mode returns [ModeTable] or [ModeAdvisory], as the URL says. The errors are those of [Open].
func Mode(rawURL string) (string, error) {
	t, err := parse(rawURL)
	if err != nil {
		return "", fmt.Errorf("postgres: opening: %w", err)
	}
	return t.mode, nil
}
