package objectstore

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/tenure-go/tenure"
)

// DefaultPrefix is what keys begin with unless something else is asked for.
const DefaultPrefix = "tenure/"

// PrefixLimit leaves room for a name of 255 bytes, all of them escaped, in a key of 1024 bytes.
const PrefixLimit = 200

// CheckPrefix returns an error that wraps [tenure.ErrConfig] if keys cannot begin with prefix.
func CheckPrefix(prefix string) error {
	if prefix == "" {
		return nil
	}
	if len(prefix) > PrefixLimit || strings.HasPrefix(prefix, "/") || !strings.HasSuffix(prefix, "/") ||
		!utf8.ValidString(prefix) {
		return fmt.Errorf("%w: prefix %q: want at most %d bytes that end in a slash and do not begin with one",
			tenure.ErrConfig, prefix, PrefixLimit)
	}
	return nil
}

// ParseURL parses the URL of a store, SCHEME://HOST[/PATH][?PARAMETERS]. The error wraps [tenure.ErrConfig] and says
// which form is wanted. The URL is not repeated: there may be a secret in it.
func ParseURL(rawURL, scheme, form string) (*url.URL, error) {
	u, err := url.Parse(rawURL)
	if err != nil || u.Scheme != scheme || u.Host == "" || u.User != nil || u.Port() != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%w: want %s", tenure.ErrConfig, form)
	}
	return u, nil
}

// CheckEndpoint returns an error that wraps [tenure.ErrConfig] if a server, unless it is the usual one, cannot be at a
// URL.
func CheckEndpoint(rawURL string) error {
	if rawURL == "" {
		return nil
	}
	u, err := url.Parse(rawURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return fmt.Errorf("%w: endpoint: want a URL with http or https, without credentials and parameters", tenure.ErrConfig)
	}
	return nil
}
