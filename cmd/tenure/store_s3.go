package main

import (
	"context"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/stores/s3"
)

// s3Scheme is a bucket of Amazon S3 or a compatible server.
var s3Scheme = scheme{names: []string{"s3"}, form: "s3://bucket", open: openS3}

func openS3(ctx context.Context, address string, _ opening) (tenure.Store, func() error, error) {
	return opened(s3.Open(ctx, address))
}
