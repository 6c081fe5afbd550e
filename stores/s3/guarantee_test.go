package s3

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/tenure-go/tenure"
)

// The grade depends on whose server it is, and on the kind of bucket.
func TestGuarantee(t *testing.T) {
	for _, test := range []struct {
		endpoint, bucket string
		want             tenure.Grade
		reason           string
	}{
		{"", "b", tenure.GradeExclusive, "tried"},
		{"https://s3.dualstack.eu-west-1.amazonaws.com", "b", tenure.GradeExclusive, "tried"},
		{"https://minio.example", "b", tenure.GradeUnknown, "minio.example"},
		{"https://amazonaws.com.example", "b", tenure.GradeUnknown, "not Amazon's"},
		{"", "b--euw1-az1--x-s3", tenure.GradeUntilFailover, "zone"},
	} {
		var endpoint *string
		if test.endpoint != "" {
			endpoint = aws.String(test.endpoint)
		}
		s, err := New(s3.New(s3.Options{BaseEndpoint: endpoint}), test.bucket)
		if err != nil {
			t.Fatal(err)
		}
		g := s.guarantee(false)
		if g.Grade != test.want || !strings.Contains(g.Reasons[0], test.reason) {
			t.Errorf("%q, %q: %+v", test.endpoint, test.bucket, g)
		}
		if g := s.guarantee(true); !strings.Contains(strings.Join(g.Reasons, " "), "noncurrent") {
			t.Errorf("with old versions: %+v", g)
		}
	}
}
