package azblob

import (
	"bytes"
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/tenure-go/tenure/fence"
)

var _ fence.Objects = Objects{}

// Objects lets [fence.Put] write blobs of a container, which need not be that of the elections.
type Objects struct {
	Container *container.Client
}

// Head implements [fence.Objects].
func (o Objects) Head(ctx context.Context, name string) (metadata map[string]string, version string, err error) {
	out, err := o.Container.NewBlobClient(name).GetProperties(ctx, nil)
	switch {
	case bloberror.HasCode(err, bloberror.BlobNotFound):
		return nil, "", nil
	case err != nil:
		return nil, "", fmt.Errorf("azblob: %w", err)
	}
	metadata = make(map[string]string, len(out.Metadata))
	for key, value := range out.Metadata {
		metadata[key] = *value
	}
	return metadata, string(*out.ETag), nil
}

// Put implements [fence.Objects].
func (o Objects) Put(
	ctx context.Context, name string, content []byte, metadata map[string]string, version string,
) error {
	condition := &blob.ModifiedAccessConditions{IfMatch: (*azcore.ETag)(&version)}
	if version == "" {
		condition = &blob.ModifiedAccessConditions{IfNoneMatch: to.Ptr(azcore.ETagAny)}
	}
	pointers := make(map[string]*string, len(metadata))
	for key, value := range metadata {
		pointers[key] = &value
	}
	_, err := o.Container.NewBlockBlobClient(name).Upload(ctx, streaming.NopCloser(bytes.NewReader(content)),
		&blockblob.UploadOptions{
			Metadata: pointers, AccessConditions: &blob.AccessConditions{ModifiedAccessConditions: condition},
		})
	switch {
	case err == nil:
		return nil
	case bloberror.HasCode(err, bloberror.ConditionNotMet, bloberror.BlobAlreadyExists, bloberror.BlobNotFound):
		return fence.ErrChanged
	}
	return fmt.Errorf("azblob: %w", err)
}
