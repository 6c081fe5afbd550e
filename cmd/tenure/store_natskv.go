package main

import (
	"context"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/stores/natskv"
)

// natsScheme is a key-value bucket of NATS JetStream.
var natsScheme = scheme{names: []string{"nats", "tls"}, form: "nats://host/bucket", open: openNATS}

func openNATS(ctx context.Context, address string) (tenure.Store, func() error, error) {
	return opened(natskv.Open(ctx, address))
}
