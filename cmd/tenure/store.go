package main

import (
	"context"

	"net/url"
	"slices"
	"strings"

	"github.com/tenure-go/tenure"
)

// scheme is a kind of store, as the URL names it.
type scheme struct {
	name string // of the URL
	form string // an example of a URL
	open func(ctx context.Context, address *url.URL) (tenure.Store, func() error, error)
}

// schemes are all kinds of stores that the command knows. A new one is added here, and has a file of its own.
var schemes = []scheme{fileScheme, memoryScheme}

// openStore opens the store that a URL names; empty for the default one. Whoever opens a store closes it.
func openStore(ctx context.Context, address string) (store tenure.Store, closeStore func() error, err error) {
	if address == "" {
		if address, err = defaultStore(); err != nil {
			return nil, nil, err
		}
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, nil, usagef("the store %q is no URL; want %s", address, forms())
	}
	for _, s := range schemes {
		if s.name == u.Scheme {
			store, closeStore, err = s.open(ctx, u)
			return store, closeStore, storeFailed(err)
		}
	}
	if u.Scheme == "" {
		return nil, nil, usagef("the store %q has no scheme; want %s", address, forms())
	}
	return nil, nil, usagef("the store's scheme %q is unknown; want %s", u.Scheme+":", forms())
}

// openStore opens the store of the global flags.
func (a *app) openStore(ctx context.Context) (tenure.Store, func() error, error) {
	return openStore(ctx, a.storeURL)
}

func forms() string {
	var forms []string
	for _, s := range schemes {
		forms = append(forms, s.form)
	}
	return strings.Join(forms, " or ")
}

// onlyParameters refuses parameters of a store's URL that it does not have: a misspelt one must not be ignored.
func onlyParameters(u *url.URL, allowed ...string) error {
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return usagef("the parameters of the store %q cannot be read: %w", u.Redacted(), err)
	}
	for name, values := range query {
		switch {
		case !slices.Contains(allowed, name):
			return usagef("the store %q has no parameter %q; known: %s", u.Redacted(), name, list(allowed))
		case len(values) > 1:
			return usagef("the store %q has the parameter %q more than once", u.Redacted(), name)
		}
	}
	return nil
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
