package s3

import (
	"strings"
	"testing"

	"github.com/tenure-go/tenure/internal/storetest"
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
	storetest.WrongURLs(t, Open, map[string]string{
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
	})
}
