package s3

import (
	"bytes"
	"context"
	"crypto/md5" // S3 makes entity tags of it
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/tenure-go/tenure/fence"
)

var _ fence.Objects = Objects{}

// Objects lets [fence.Put] write objects of a bucket, which need not be that of the elections. The rights are
// s3:GetObject and s3:PutObject, and s3:ListBucket so that a missing object is told from a forbidden one. A guarded
// write costs two HEAD requests and a PUT.
type Objects struct {
	Client *s3.Client
	Bucket string
}

// errSameContent is for a write that a stale leader's would not notice.
var errSameContent = errors.New("s3: the object has this very content already, and S3's entity tag would stay as it " +
	"is: a stale leader that looked before could write over it; put the token, or a time, into the content")

// Head implements [fence.Objects]. It looks until two looks in a row find the same version, and returns the metadata of
// the latter: Amazon answers with both of one write, but there are servers that read the metadata before the entity
// tag, and a writer comes between. The metadata of a look that began when the version was there is not older than it,
// and if it is newer, a write on the condition of the version is refused.
func (o Objects) Head(ctx context.Context, name string) (metadata map[string]string, version string, err error) {
	_, seen, err := o.look(ctx, name)
	for seen != "" && err == nil {
		before := seen
		if metadata, seen, err = o.look(ctx, name); seen == before {
			return metadata, seen, err
		}
	}
	return nil, "", err
}

// look asks once.
func (o Objects) look(ctx context.Context, name string) (metadata map[string]string, version string, err error) {
	out, err := o.Client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &o.Bucket, Key: &name})
	switch {
	case err == nil:
		return out.Metadata, aws.ToString(out.ETag), nil
	case status(err) == http.StatusNotFound:
		return nil, "", nil
	}
	return nil, "", fmt.Errorf("s3: %w", err)
}

// Put implements [fence.Objects]. Content that is there already is refused, since S3's entity tag is made of the
// content alone.
func (o Objects) Put(
	ctx context.Context, name string, content []byte, metadata map[string]string, version string,
) error {
	in := &s3.PutObjectInput{Bucket: &o.Bucket, Key: &name, Body: bytes.NewReader(content), Metadata: metadata}
	if version == "" {
		in.IfNoneMatch = aws.String("*")
	} else {
		in.IfMatch = &version
	}
	sum := md5.Sum(content)
	if strings.Trim(version, `"`) == hex.EncodeToString(sum[:]) {
		return errSameContent
	}
	_, err := o.Client.PutObject(ctx, in)
	switch {
	case err == nil:
		return nil
	case changed(err):
		return fence.ErrChanged
	}
	return fmt.Errorf("s3: %w", err)
}

// changed reports whether a conditional write was refused since the object is another one, or gone, by now.
func changed(err error) bool {
	switch status(err) {
	case http.StatusPreconditionFailed, http.StatusConflict:
		return true
	case http.StatusNotFound:
		return code(err) != "NoSuchBucket"
	}
	return false
}
