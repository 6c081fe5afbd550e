package main

import (
	"context"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/stores/azblob"
)

// azblobScheme is a container of Azure Blob Storage.
var azblobScheme = scheme{names: []string{"azblob"}, form: "azblob://account/container", open: openAzblob}

func openAzblob(ctx context.Context, address string, how opening) (tenure.Store, func() error, error) {
	var options []azblob.Option
	if how == existing {
		options = append(options, azblob.WithCreate(false))
	}
	return opened(azblob.Open(ctx, address, options...))
}
