package s3

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/tenure-go/tenure"
)

func TestURL(t *testing.T) {
	for rawURL, want := range map[string]location{
		"s3://b":                  {bucket: "b", prefix: "tenure/"},
		"s3://b.example/":         {bucket: "b.example", prefix: "tenure/"},
		"s3://b/p":                {bucket: "b", prefix: "p/"},
		"s3://b/p/q/?profile=x":   {bucket: "b", prefix: "p/q/", profile: "x"},
		"s3://b?region=eu-west-1": {bucket: "b", prefix: "tenure/", region: "eu-west-1"},
		"s3://b?endpoint=http://127.0.0.1:7070&path-style=true": {
			bucket: "b", prefix: "tenure/", endpoint: "http://127.0.0.1:7070", pathStyle: true,
		},
	} {
		if got, err := parse(rawURL); err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", rawURL, got, err, want)
		}
	}
}

func TestWrongURL(t *testing.T) {
	for rawURL, want := range map[string]string{
		"http://b":                            "want s3://",
		"s3://":                               "want s3://",
		"s3:///p":                             "want s3://",
		"s3://key:secret@b":                   "without credentials",
		"s3://b:80":                           "want s3://",
		"s3://b#x":                            "want s3://",
		"s3://b?ttl=1":                        `"ttl"`,
		"s3://b?region=a&region=b":            "repeated",
		"s3://b?path-style=maybe":             "path-style",
		"s3://b?endpoint=127.0.0.1":           "endpoint",
		"s3://b?endpoint=ftp://h":             "endpoint",
		"s3://b?endpoint=http://k:secret@h":   "endpoint",
		"s3://b?region=a;b":                   "parameters",
		"s3://b//" + strings.Repeat("p", 200): "prefix",
	} {
		_, err := Open(context.Background(), rawURL)
		if !errors.Is(err, tenure.ErrConfig) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %q", rawURL, err, want)
		}
	}
}

func TestWrongOptions(t *testing.T) {
	c := s3.New(s3.Options{})
	for _, prefix := range []string{"p", "/p/", "\xff/", strings.Repeat("p", 200) + "/"} {
		if _, err := New(c, "b", WithPrefix(prefix)); !errors.Is(err, tenure.ErrConfig) {
			t.Errorf("prefix %q: %v", prefix, err)
		}
	}
	if _, err := New(nil, "b"); !errors.Is(err, tenure.ErrConfig) {
		t.Errorf("without a client: %v", err)
	}
	if _, err := New(c, ""); !errors.Is(err, tenure.ErrConfig) {
		t.Errorf("without a bucket: %v", err)
	}
	if _, err := New(c, "b", WithPrefix(""), nil); err != nil {
		t.Errorf("without a prefix: %v", err)
	}
}

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
