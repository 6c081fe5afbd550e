package redis

import (
	"crypto/tls"

	"github.com/tenure-go/tenure/internal/storeurl"
)

// password reads a password from the file that a parameter names, and returns none without the parameter.
func (p parameters) password(name string) (string, error) {
	path, ok := p[name]
	if !ok {
		return "", nil
	}
	password, err := storeurl.ReadPassword(path)
	if err != nil {
		return "", refused("%s: %w", name, err)
	}
	return password, nil
}

// tls returns the configuration of TLS, nil without it.
func (p parameters) tls(secure bool) (*tls.Config, error) {
	if !secure {
		for _, name := range storeurl.TLSParameters {
			if _, ok := p[name]; ok {
				return nil, refused("%s is for TLS alone: want rediss:// or the like", name)
			}
		}
		return nil, nil
	}
	c, err := storeurl.TLS(p)
	if err != nil {
		return nil, refused("%w", err)
	}
	return c, nil
}
