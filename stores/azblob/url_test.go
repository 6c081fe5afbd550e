package azblob

import (
	"strings"
	"testing"

	"github.com/tenure-go/tenure/internal/storetest"
)

func TestURL(t *testing.T) {
	for rawURL, want := range map[string]location{
		"azblob://a/c":              {account: "a", container: "c", prefix: "tenure/"},
		"azblob://a/c/":             {account: "a", container: "c", prefix: "tenure/"},
		"azblob://a/c/p/q/":         {account: "a", container: "c", prefix: "p/q/"},
		"azblob://a/c?create=true":  {account: "a", container: "c", prefix: "tenure/", create: true},
		"azblob://a/c?sas=x%26sig":  {account: "a", container: "c", prefix: "tenure/", sas: "x&sig"},
		"azblob://a/c?lease-blob=b": {account: "a", container: "c", prefix: "tenure/", leaseBlob: "b"},
		"azblob://a/c?endpoint=http://127.0.0.1:1/a": {
			account: "a", container: "c", prefix: "tenure/", endpoint: "http://127.0.0.1:1/a",
		},
	} {
		if got, err := parse(rawURL); err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", rawURL, got, err, want)
		}
	}
	if got := (location{account: "a", container: "c"}).url(); got != "https://a.blob.core.windows.net/c" {
		t.Errorf("the container is at %s", got)
	}
}

func TestWrongURL(t *testing.T) {
	storetest.WrongURLs(t, Open, map[string]string{
		"https://a/c":                              "want azblob://",
		"azblob://a":                               "no container",
		"azblob:///c":                              "want azblob://",
		"azblob://a:secret@a/c":                    "want azblob://",
		"azblob://a:80/c":                          "want azblob://",
		"azblob://a/c#x":                           "want azblob://",
		"azblob://a/c?ttl=1":                       `"ttl"`,
		"azblob://a/c?sv=2020&sig=secret":          "escaped",
		"azblob://a/c?create=maybe":                "create",
		"azblob://a/c?create=true&create=true":     "repeated",
		"azblob://a/c?endpoint=x":                  "endpoint",
		"azblob://a/c?endpoint=http://k:secret@h":  "endpoint",
		"azblob://a/c?sas=secret;x":                "parameters",
		"azblob://a/c?lease-blob=/x":               "slash",
		"azblob://a/c/" + strings.Repeat("p", 200): "prefix",
	})
}
