package main

import (
	"context"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/stores/natskv"
)

// natsScheme is a key-value bucket of NATS JetStream.
var natsScheme = scheme{names: []string{"nats", "tls"}, form: "nats://host/bucket", open: openNATS}

func openNATS(ctx context.Context, address string, how opening) (tenure.Store, func() error, error) {
	var options []natskv.Option
	if how == existing {
		options = append(options, natskv.WithExistingBucket())
	}
	return opened(natskv.Open(ctx, address, options...))
}
