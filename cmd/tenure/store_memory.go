package main

import (
	"context"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/memory"
)

// memoryScheme is a store that ends with the process, to try things.
var memoryScheme = scheme{names: []string{"memory"}, form: "memory:", solo: true, open: openMemory}

func openMemory(_ context.Context, address string, _ opening) (tenure.Store, func() error, error) {
	u, err := parse(address)
	if err != nil {
		return nil, nil, err
	}
	if u.Opaque != "" || u.Host != "" || u.Path != "" {
		return nil, nil, usagef("the store %q has a name, but a store in memory has none; want memory:", u)
	}
	if err := onlyParameters(u); err != nil {
		return nil, nil, err
	}
	return memory.New(), func() error { return nil }, nil
}
