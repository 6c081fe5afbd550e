package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tenure-go/tenure"
)

// WrongURLs checks that a store's Open refuses URLs, each for what its error has to mention, and that no error tells a
// password, which in these URLs begins with "sec".
func WrongURLs[S, O any](tb TB, open func(context.Context, string, ...O) (S, error), wrong map[string]string) {
	tb.Helper()
	var found []string
	for rawURL, want := range wrong {
		_, err := open(tb.Context(), rawURL)
		switch {
		case !errors.Is(err, tenure.ErrConfig) || !strings.Contains(err.Error(), want):
			found = append(found, fmt.Sprintf("%s: the error is %v, want ErrConfig with %q", rawURL, err, want))
		case strings.Contains(err.Error(), "sec"):
			found = append(found, fmt.Sprintf("%s: the error %v tells the password", rawURL, err))
		}
	}
	if len(found) > 0 {
		tb.Fatalf("%s", strings.Join(found, "\n"))
	}
}

// Whole is a store that can do all that there is.
type Whole interface {
	tenure.Store
	tenure.Watcher
	tenure.Lister
	tenure.Pruner
	tenure.Guarantor
}

// Closed checks that no call of a closed store, or of one over a closed client, is worth repeating.
func Closed(tb TB, what string, s Whole) {
	tb.Helper()
	ctx := tb.Context()
	_, loading := s.Load(ctx, "billing")
	_, swapping := s.CompareAndSwap(ctx, "billing", "", Held(1, "a"))
	_, watching := s.Watch(ctx, "billing", func(tenure.Snapshot, error) {})
	_, listing := s.List(ctx)
	_, pruning := s.Prune(ctx, 0)
	_, probing := s.Guarantee(ctx)
	for name, err := range map[string]error{
		"Load": loading, "CompareAndSwap": swapping, "Watch": watching, "List": listing, "Prune": pruning,
		"Guarantee": probing,
	} {
		if !errors.Is(err, tenure.ErrPermanent) {
			tb.Fatalf("%s of %s returned %v, want ErrPermanent", name, what, err)
		}
	}
}
