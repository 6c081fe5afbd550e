package azblob

import (
	"bytes"
	"context"
	"io"
	"sync/atomic"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/tenure-go/tenure/internal/certainty"
	"github.com/tenure-go/tenure/internal/objectstore"
)

// blobs is an [objectstore.Client].
type blobs struct {
	client *container.Client
	create bool        // the container, when it turns out to be missing
	worked atomic.Bool // the credentials, at least once
}

// Get implements [objectstore.Client].
func (b *blobs) Get(ctx context.Context, key string) (objectstore.Object, error) {
	out, err := b.client.NewBlobClient(key).DownloadStream(once(ctx), nil)
	if err != nil {
		return objectstore.Object{}, b.read(err)
	}
	b.worked.Store(true)
	body, err := io.ReadAll(io.LimitReader(out.Body, objectstore.MaxSize+1))
	_ = out.Body.Close() // it was only read
	if err != nil {
		return objectstore.Object{}, err
	}
	return objectstore.Object{Body: body, Tag: string(*out.ETag)}, nil
}

// Put implements [objectstore.Client].
func (b *blobs) Put(ctx context.Context, key string, body []byte, old string) (string, error) {
	tag, err := b.upload(ctx, key, body, old)
	if b.create && bloberror.HasCode(err, bloberror.ContainerNotFound) {
		if err := b.makeContainer(ctx); err != nil {
			return "", err
		}
		tag, err = b.upload(ctx, key, body, old) // the first one was refused
	}
	if err != nil {
		return "", b.write(err)
	}
	b.worked.Store(true)
	return tag, nil
}

func (b *blobs) upload(ctx context.Context, key string, body []byte, old string) (string, error) {
	condition := &blob.ModifiedAccessConditions{IfMatch: (*azcore.ETag)(&old)}
	if old == "" {
		condition = &blob.ModifiedAccessConditions{IfNoneMatch: to.Ptr(azcore.ETagAny)}
	}
	out, err := b.client.NewBlockBlobClient(key).Upload(once(ctx), streaming.NopCloser(bytes.NewReader(body)),
		&blockblob.UploadOptions{
			HTTPHeaders:      &blob.HTTPHeaders{BlobContentType: to.Ptr("application/json")},
			AccessConditions: &blob.AccessConditions{ModifiedAccessConditions: condition},
		})
	if err != nil {
		return "", err
	}
	return string(*out.ETag), nil
}

// makeContainer returns when there is a container.
func (b *blobs) makeContainer(ctx context.Context) error {
	_, err := b.client.Create(once(ctx), nil)
	if err == nil || bloberror.HasCode(err, bloberror.ContainerAlreadyExists) {
		return nil
	}
	return certainty.Mark(b.failed(err)) // it is not what the caller wants to write
}

// Delete implements [objectstore.Client].
func (b *blobs) Delete(ctx context.Context, key, old string) error {
	_, err := b.client.NewBlobClient(key).Delete(once(ctx), &blob.DeleteOptions{
		AccessConditions: &blob.AccessConditions{
			ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: (*azcore.ETag)(&old)},
		},
	})
	if err != nil {
		return b.write(err)
	}
	return nil
}

// List implements [objectstore.Client].
func (b *blobs) List(ctx context.Context, prefix string, each func(objectstore.Entry)) error {
	pages := b.client.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{Prefix: &prefix})
	for pages.More() {
		page, err := pages.NextPage(once(ctx))
		switch {
		case b.create && bloberror.HasCode(err, bloberror.ContainerNotFound):
			return nil
		case err != nil:
			return b.failed(err)
		}
		for _, item := range page.Segment.BlobItems {
			each(objectstore.Entry{Key: *item.Name, Modified: *item.Properties.LastModified})
		}
	}
	return nil
}

// once has the SDK send a request once. A repetition would meet what the first one wrote, or bring about what the
// caller has long given up; candidates repeat what has to be repeated.
func once(ctx context.Context) context.Context {
	return policy.WithRetryOptions(ctx, policy.RetryOptions{MaxRetries: -1})
}
