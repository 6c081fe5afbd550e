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
	solo bool   // no other process, and no second connection, ever sees its records
	open func(ctx context.Context, address *url.URL) (tenure.Store, func() error, error)
	// schema returns the SQL that makes the store's tables; nil if it has none.
	schema func(address *url.URL) (string, error)
}

// schemes are all kinds of stores that the command knows. A new one is added here, and has a file of its own.
var schemes = []scheme{fileScheme, memoryScheme}

// openStore opens the store that a URL names; empty for the default one. Whoever opens a store closes it.
func openStore(ctx context.Context, address string) (store tenure.Store, closeStore func() error, err error) {
	u, s, err := locate(address)
	if err != nil {
		return nil, nil, err
	}
	store, closeStore, err = s.open(ctx, u)
	return store, closeStore, storeFailed(err)
}

// locate reads the URL of a store; empty for the default one.
func locate(address string) (*url.URL, scheme, error) {
	if address == "" {
		var err error
		if address, err = defaultStore(); err != nil {
			return nil, scheme{}, err
		}
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, scheme{}, usagef("the store is no URL; want %s", forms()) // it may hold a password
	}
	s, err := schemeOf(u)
	return u, s, err
}

func schemeOf(u *url.URL) (scheme, error) {
	for _, s := range schemes {
		if s.name == u.Scheme {
			return s, nil
		}
	}
	if u.Scheme == "" {
		return scheme{}, usagef("the store %q has no scheme; want %s; a directory is \"file:%s\"",
			u.Redacted(), forms(), u.Path)
	}
	return scheme{}, usagef("the store's scheme %q is unknown; want %s", u.Scheme+":", forms())
}

// withStore calls do with the store of the global flags.
func (a *app) withStore(ctx context.Context, do func(tenure.Store) error) error {
	store, closeStore, err := openStore(ctx, a.storeURL)
	if err != nil {
		return err
	}
	err = do(store)
	if closing := closeStore(); err == nil {
		err = storeFailed(closing)
	}
	return err
}

// withStoreSoon is withStore for what is done in no time unless the store hangs.
func (a *app) withStoreSoon(ctx context.Context, do func(context.Context, tenure.Store) error) error {
	ctx, cancel := context.WithTimeout(ctx, a.storeTimeout)
	defer cancel()
	return a.withStore(ctx, func(store tenure.Store) error { return do(ctx, store) })
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
