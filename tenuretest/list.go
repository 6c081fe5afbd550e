package tenuretest

import (
	"context"
	"slices"

	"github.com/tenure-go/tenure"
)

// list returns the store's elections, those of other rules and earlier runs among them.
func (c *trial) list() (names []string) {
	c.Helper()
	err := c.accepted(func(ctx context.Context) (err error) {
		names, err = c.store.(tenure.Lister).List(ctx)
		return err
	})
	if err != nil {
		c.fail("List returned the error %v", err)
	}
	return names
}

// listed fails the rule unless List returns the name so many times.
func (c *trial) listed(names []string, name string, want int) {
	c.Helper()
	got := 0
	for _, other := range names {
		if other == name {
			got++
		}
	}
	if got != want {
		c.fail("List returned %s %d times, want %d", quote(name), got, want)
	}
}

func listNames(c *trial) {
	one, other, loaded, watched := c.name(), c.name(), c.name(), c.name()
	created := c.create(one, c.held())
	c.swap(one, created.Version, c.held())
	c.create(other, c.held())
	c.load(loaded)
	if watching.met(c) {
		c.watch(watched)
		c.settle()
	}
	names := c.list()
	c.listed(names, one, 1)
	c.listed(names, other, 1)
	c.listed(names, loaded, 0)
	c.listed(names, watched, 0)
}

func listSorted(c *trial) {
	stem := c.name()
	for _, end := range []string{"-m", "-c", "", "-z", "-a"} {
		c.create(stem+end, c.held())
	}
	if names := c.list(); !slices.IsSorted(names) {
		c.fail("List returned %q", names)
	}
}

func listForgotten(c *trial) {
	gone, forgotten := c.name(), c.name()
	held := c.held()
	created := c.create(gone, held)
	c.swap(gone, created.Version, vacant(held))
	created = c.create(forgotten, held)
	c.swap(forgotten, created.Version, tenure.Record{Token: held.Token, Forgotten: true})
	names := c.list()
	c.listed(names, gone, 1)
	c.listed(names, forgotten, 1)
}

func listAny(c *trial) {
	var written []string
	for _, name := range append(awkwardNames(nonce()), longNames(nonce())[0]) {
		if _, err := c.put(name); err == nil { // else NAME-ANY says so
			written = append(written, name)
		}
	}
	names := c.list()
	for _, name := range written {
		c.listed(names, name, 1)
	}
}
