package s3

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/tenure-go/tenure"
)

// Open returns the store at a URL, with a client of its own, once the server has shown that it honours conditions:
//
//	s3://BUCKET[/PREFIX][?region=REGION][&endpoint=URL][&path-style=true][&profile=NAME]
//
// Credentials come from the usual chain of the AWS SDK: environment, shared files, web identity, container, instance.
// endpoint names a compatible server, http or https; path-style puts the bucket's name into the path and not into the
// host. Without a region that of the environment or the shared files is used, or with an endpoint us-east-1. A prefix
// ends in a slash in the keys, whether or not it does in the URL; [WithPrefix] overrides it.
//
// The error wraps [tenure.ErrConfig] if the URL has another form, and [tenure.ErrPermanent] if the server ignores
// conditions or denies access.
func Open(ctx context.Context, rawURL string, options ...Option) (*Store, error) {
	at, err := parse(rawURL)
	if err == nil {
		options = append([]Option{WithPrefix(at.prefix)}, options...)
		_, err = newConfig(options)
	}
	if err != nil {
		return nil, fmt.Errorf("s3: opening: %w", err)
	}
	s, err := at.open(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("s3: opening bucket %q: %w", at.bucket, err)
	}
	if err := s.objects.Check(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("s3: opening bucket %q: %w", at.bucket, err), s.Close())
	}
	return s, nil
}

func (l location) open(ctx context.Context, options []Option) (*Store, error) {
	loaded, err := awsconfig.LoadDefaultConfig(ctx,
		awsconfig.WithRegion(l.region), awsconfig.WithSharedConfigProfile(l.profile))
	if err != nil {
		return nil, err
	}
	if loaded.HTTPClient == nil { // unless AWS_CA_BUNDLE is set, the SDK leaves its own to its clients
		loaded.HTTPClient = awshttp.NewBuildableClient()
	}
	client := ours(loaded.HTTPClient)
	if client != nil {
		loaded.HTTPClient = client
	}
	if loaded.Region == "" && l.endpoint == "" {
		return nil, fmt.Errorf("%w: no region is known: add ?region=REGION to the URL, or set AWS_REGION", tenure.ErrConfig)
	}
	s, err := New(s3.NewFromConfig(loaded, l.configure), l.bucket, options...)
	if err != nil {
		return nil, err
	}
	s.owned = client
	return s, nil
}

// ours returns the SDK's client with a transport whose idle connections can be closed: its own hides that. It is nil if
// the client is another one.
func ours(client aws.HTTPClient) *http.Client {
	buildable, ok := client.(*awshttp.BuildableClient)
	if !ok {
		return nil
	}
	c := &http.Client{Transport: buildable.GetTransport(), Timeout: buildable.GetTimeout()}
	if frozen, ok := buildable.Freeze().(*http.Client); ok {
		c.CheckRedirect = frozen.CheckRedirect
	}
	return c
}

func (l location) configure(o *s3.Options) {
	o.UsePathStyle = l.pathStyle
	if l.endpoint != "" {
		o.BaseEndpoint = &l.endpoint
	}
	if o.Region == "" {
		o.Region = "us-east-1"
	}
}
