package s3

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/tenure-go/tenure"
)

// Guarantee implements [tenure.Guarantor]: exclusive on Amazon S3. Of another server the store can only tell that it
// honours conditions, not what it does before it acknowledges a write: the grade is unknown.
func (s *Store) Guarantee(ctx context.Context) (tenure.Guarantee, error) {
	if err := s.objects.Check(ctx); err != nil {
		return tenure.Guarantee{}, fmt.Errorf("s3: guarantee: %w", err)
	}
	return s.guarantee(s.keepsVersions(ctx)), nil
}

// guarantee is that of a server which honours conditions.
func (s *Store) guarantee(keepsVersions bool) tenure.Guarantee {
	g := tenure.Guarantee{Grade: tenure.GradeExclusive}
	if host := foreignHost(aws.ToString(s.bucket.client.Options().BaseEndpoint)); host != "" {
		g.Grade = tenure.GradeUnknown
		g.Reasons = append(g.Reasons, host+" is not Amazon's: whether it has synced and replicated a write before it "+
			"acknowledges it, and reads the newest one, is for its documentation to say")
	} else if strings.HasSuffix(s.bucket.name, "--x-s3") {
		g.Grade = tenure.GradeUntilFailover
		g.Reasons = append(g.Reasons, "a directory bucket is kept in one availability zone, and is lost with it")
	}
	if keepsVersions {
		g.Reasons = append(g.Reasons, "the bucket keeps old versions of objects, so every renewal leaves one: "+
			"let a lifecycle rule expire noncurrent versions, or use a bucket without versioning")
	}
	g.Reasons = append(g.Reasons, "the server was tried: it refuses a write whose If-Match or If-None-Match does not hold")
	return g
}

// foreignHost returns the host of an endpoint that is not Amazon's, empty if it is, or none is set.
func foreignHost(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil || endpoint == "" {
		return ""
	}
	host := u.Hostname()
	if strings.HasSuffix(host, ".amazonaws.com") || strings.HasSuffix(host, ".amazonaws.com.cn") {
		return ""
	}
	return host
}

// keepsVersions asks the bucket, if that is allowed.
func (s *Store) keepsVersions(ctx context.Context) bool {
	out, err := s.bucket.client.GetBucketVersioning(ctx, &s3.GetBucketVersioningInput{Bucket: &s.bucket.name},
		new(request).once)
	return err == nil && out.Status == types.BucketVersioningStatusEnabled
}
