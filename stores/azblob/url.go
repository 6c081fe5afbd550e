package azblob

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/objectstore"
	"github.com/tenure-go/tenure/internal/storeurl"
)

// location is what a URL says.
type location struct {
	account, container, prefix, endpoint, sas, leaseBlob string

	create bool
}

func (l location) options() []Option {
	return []Option{WithPrefix(l.prefix), WithCreate(l.create), WithBlobLease(l.leaseBlob)}
}

// url returns that of the container.
func (l location) url() string {
	endpoint := l.endpoint
	if endpoint == "" {
		endpoint = "https://" + l.account + ".blob.core.windows.net"
	}
	return strings.TrimSuffix(endpoint, "/") + "/" + url.PathEscape(l.container)
}

func parse(rawURL string) (location, error) {
	u, err := objectstore.ParseURL(rawURL, "azblob", "azblob://ACCOUNT/CONTAINER[/PREFIX][?PARAMETERS]")
	if err != nil {
		return location{}, err
	}
	name, path, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	if name == "" {
		return location{}, fmt.Errorf("%w: no container is named: want azblob://ACCOUNT/CONTAINER", tenure.ErrConfig)
	}
	parameters, err := storeurl.Parameters(u.RawQuery, "create", "endpoint", "lease-blob", "sas")
	if err != nil {
		return location{}, fmt.Errorf("%w: %w (the value of sas has to be escaped)", tenure.ErrConfig, err)
	}
	create, err := storeurl.Bool(parameters, "create")
	if err != nil {
		return location{}, fmt.Errorf("%w: %w", tenure.ErrConfig, err)
	}
	at := location{
		account: u.Host, container: name, prefix: storeurl.Prefix(path, objectstore.DefaultPrefix), create: create,
		endpoint: parameters["endpoint"], sas: parameters["sas"], leaseBlob: parameters["lease-blob"],
	}
	return at, objectstore.CheckEndpoint(at.endpoint)
}
