package s3

import (
	"fmt"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/objectstore"
	"github.com/tenure-go/tenure/internal/storeurl"
)

// location is what a URL says.
type location struct {
	bucket, prefix, region, endpoint, profile string

	pathStyle bool
}

// form is that of URLs. Somebody may have put a key into one.
const form = "s3://BUCKET[/PREFIX][?PARAMETERS], without credentials, which come from the environment"

func parse(rawURL string) (location, error) {
	u, err := objectstore.ParseURL(rawURL, "s3", form)
	if err != nil {
		return location{}, err
	}
	parameters, err := storeurl.Parameters(u.RawQuery, "region", "endpoint", "path-style", "profile")
	if err != nil {
		return location{}, fmt.Errorf("%w: %w", tenure.ErrConfig, err)
	}
	pathStyle, err := storeurl.Bool(parameters, "path-style")
	if err != nil {
		return location{}, fmt.Errorf("%w: %w", tenure.ErrConfig, err)
	}
	at := location{
		bucket: u.Host, prefix: storeurl.Prefix(u.Path, objectstore.DefaultPrefix), region: parameters["region"],
		endpoint: parameters["endpoint"], profile: parameters["profile"], pathStyle: pathStyle,
	}
	return at, objectstore.CheckEndpoint(at.endpoint)
}
