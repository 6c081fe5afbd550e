package s3

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/tenure-go/tenure/internal/objectstore"
)

// bucket is an [objectstore.Client].
type bucket struct {
	client *s3.Client
	name   string
}

// Get implements [objectstore.Client].
func (b bucket) Get(ctx context.Context, key string) (objectstore.Object, error) {
	r := new(request)
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key}, r.once)
	if err != nil {
		return objectstore.Object{}, r.read(err)
	}
	body, err := io.ReadAll(io.LimitReader(out.Body, objectstore.MaxSize+1))
	_ = out.Body.Close() // it was only read
	if err != nil {
		return objectstore.Object{}, err
	}
	return objectstore.Object{Body: body, Tag: aws.ToString(out.ETag)}, nil
}

// Put implements [objectstore.Client].
func (b bucket) Put(ctx context.Context, key string, body []byte, old string) (string, error) {
	in := &s3.PutObjectInput{
		Bucket: &b.name, Key: &key, Body: bytes.NewReader(body), ContentType: aws.String("application/json"),
	}
	if old == "" {
		in.IfNoneMatch = aws.String("*")
	} else {
		in.IfMatch = &old
	}
	r := new(request)
	out, err := b.client.PutObject(ctx, in, r.once)
	if err != nil {
		return "", r.write(err)
	}
	return aws.ToString(out.ETag), nil
}

// Delete implements [objectstore.Client].
func (b bucket) Delete(ctx context.Context, key, old string) error {
	r := new(request)
	_, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: &key, IfMatch: &old}, r.once)
	if err != nil {
		return r.write(err)
	}
	return nil
}

// List implements [objectstore.Client].
func (b bucket) List(ctx context.Context, prefix string, each func(objectstore.Entry)) error {
	pages := s3.NewListObjectsV2Paginator(b.client, &s3.ListObjectsV2Input{Bucket: &b.name, Prefix: &prefix})
	for pages.HasMorePages() {
		r := new(request)
		page, err := pages.NextPage(ctx, r.once)
		if err != nil {
			return r.read(err)
		}
		for _, object := range page.Contents {
			each(objectstore.Entry{Key: aws.ToString(object.Key), Modified: aws.ToTime(object.LastModified)})
		}
	}
	return nil
}

// request is one request, and whether it was handed to the network.
type request struct{ sent atomic.Bool }

// once has the SDK send the request once. A repetition would meet what the first one wrote, or bring about what the
// caller has long given up; candidates repeat what has to be repeated.
func (r *request) once(o *s3.Options) {
	o.Retryer = aws.NopRetryer{}
	o.HTTPClient = watched{o.HTTPClient, &r.sent}
	// Servers other than Amazon's refuse checksums that they do not know.
	o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
	o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
}

type watched struct {
	s3.HTTPClient
	sent *atomic.Bool
}

// Do notes that the request leaves.
func (w watched) Do(r *http.Request) (*http.Response, error) {
	w.sent.Store(true)
	return w.HTTPClient.Do(r)
}
