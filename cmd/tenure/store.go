package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tenure-go/tenure"
)

// scheme is a kind of store, as the URL names it.
type scheme struct {
	names []string // of the URL's scheme, the usual one first
	form  string   // an example of a URL
	solo  bool     // no other process, and no second connection, ever sees its records
	// open takes the URL as it was given: those with several hosts are none that package url reads. It makes what the
	// store needs and can make, unless it is to be there already.
	open func(ctx context.Context, address string, how opening) (tenure.Store, func() error, error)
	// schema returns the SQL that makes the store's tables; nil if it has none.
	schema func(address string) (string, error)
}

// opening is whether a store that is not there yet is made.
type opening bool

const (
	existing opening = false // for those who look, or ask others: a mistyped URL must not leave an empty store behind
	orMade   opening = true  // for those who lead, and for whatever is of use before anybody does
)

// schemes are all kinds of stores that the command knows. A new one is added here, and has a file of its own.
var schemes = []scheme{
	fileScheme, memoryScheme, postgresScheme, mysqlScheme, sqliteScheme, natsScheme, etcdScheme, redisScheme,
	memcachedScheme, s3Scheme, azblobScheme,
}

// leftOut are the schemes that this build does not have and others do, with how to get one of those.
var leftOut = map[string]string{}

// openStore opens the store that a URL names; empty for the default one. Whoever opens a store closes it.
func openStore(
	ctx context.Context, address string, how opening,
) (store tenure.Store, closeStore func() error, err error) {
	address, s, err := locate(address)
	if err != nil {
		return nil, nil, err
	}
	store, closeStore, err = s.open(ctx, address, how)
	if errors.Is(err, tenure.ErrNoStore) && how == existing {
		err = fmt.Errorf("%w; nothing was made: check --store, or start with \"tenure run\", which makes it", err)
	}
	return store, closeStore, storeFailed(err)
}

// opened makes what a store's own Open returns fit a scheme.
func opened[S interface {
	tenure.Store
	Close() error
}](store S, err error) (tenure.Store, func() error, error) {
	if err != nil {
		return nil, nil, err
	}
	return store, store.Close, nil
}

// locate finds the kind of store that a URL names; empty for the default one. No error repeats the URL: it may hold a
// password.
func locate(address string) (string, scheme, error) {
	if address == "" {
		var err error
		if address, err = defaultStore(); err != nil {
			return "", scheme{}, err
		}
	}
	name, _, found := strings.Cut(address, ":")
	if !found || strings.Contains(name, "/") {
		return "", scheme{}, usagef("the store has no scheme; want %s; for a directory put \"file:\" before it", forms())
	}
	for _, s := range schemes {
		if slices.Contains(s.names, name) {
			return address, s, nil
		}
	}
	if how, ok := leftOut[name]; ok {
		return "", scheme{}, usagef("this build of tenure has no stores of %q: %s", name+":", how)
	}
	return "", scheme{}, usagef("the store's scheme %q is unknown; want %s", name+":", forms())
}

// withStore calls do with the store of the global flags.
func (a *app) withStore(ctx context.Context, how opening, do func(tenure.Store) error) error {
	store, closeStore, err := openStore(ctx, a.storeURL, how)
	if err != nil {
		return err
	}
	return closing(store, closeStore, do)
}

// withStoreToLead is withStore for those who run for long, and log while they wait for the store.
func (a *app) withStoreToLead(ctx context.Context, do func(tenure.Store) error) error {
	_, s, err := locate(a.storeURL)
	if err != nil {
		return err
	}
	answered := tellSilence(a.log.With("store", s.names[0]+":")) // the rest of the URL may hold a password
	store, closeStore, err := openStore(ctx, a.storeURL, orMade)
	answered(err)
	if err != nil {
		return err
	}
	return closing(store, closeStore, do)
}

// withStoreInTime is withStore for those who wait for others: they may come before whoever makes the store.
func (a *app) withStoreInTime(ctx context.Context, do func(tenure.Store) error) error {
	for told := false; ; told = true {
		store, closeStore, err := openStore(ctx, a.storeURL, existing)
		switch {
		case err == nil:
			return closing(store, closeStore, do)
		case !errors.Is(err, tenure.ErrNoStore):
			return err
		case !told:
			a.say("waiting for the store to be made: %s", describe(err))
		}
		select {
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), errOverdue) {
				return failf(codeTimeout, "nobody made the store in time (--timeout): %w", err)
			}
			return context.Cause(ctx)
		case <-time.After(storePause):
		}
	}
}

// storePause is between two looks at whether a store has been made.
const storePause = 250 * time.Millisecond

func closing(store tenure.Store, closeStore func() error, do func(tenure.Store) error) error {
	err := do(store)
	if closing := closeStore(); err == nil {
		err = storeFailed(closing)
	}
	return err
}

// withStoreSoon is withStore for what is done in no time unless the store hangs.
func (a *app) withStoreSoon(
	ctx context.Context, how opening, do func(context.Context, tenure.Store) error,
) error {
	ctx, cancel := context.WithTimeout(ctx, a.storeTimeout)
	defer cancel()
	return a.withStore(ctx, how, func(store tenure.Store) error { return do(ctx, store) })
}

func forms() string {
	var forms []string
	for _, s := range schemes {
		forms = append(forms, s.form)
	}
	last := len(forms) - 1
	return strings.Join(forms[:last], ", ") + " or " + forms[last]
}

// parse reads a URL of the usual form.
func parse(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, usagef("the store is no URL: %w", errors.Unwrap(err)) // the outer error repeats the URL
	}
	return u, nil
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
