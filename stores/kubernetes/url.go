package kubernetes

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/tenure-go/tenure/internal/storeurl"
)

// parameters are those of a store's URL. README.md describes them.
var parameters = []string{"kubeconfig", "context"}

// location is what a URL says.
type location struct {
	namespace  string // empty: that of the configuration
	kubeconfig string // a file; empty: where kubectl looks, or that of the pod
	context    string
}

func parse(rawURL string) (location, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return location{}, errors.New("the store's address is no URL; want kubernetes://NAMESPACE")
	}
	switch {
	case u.Scheme != "kubernetes":
		return location{}, fmt.Errorf("the scheme is %q; want kubernetes", u.Scheme)
	case u.User != nil:
		return location{}, errors.New("a user or a password has no place in the URL; they are in the kubeconfig")
	case u.Port() != "" || strings.Trim(u.Path, "/") != "" || u.Fragment != "" || u.Opaque != "":
		return location{}, errors.New("want kubernetes://NAMESPACE, or kubernetes:// for the namespace of the " +
			"configuration; the address of the API server is in the kubeconfig")
	}
	query, err := storeurl.Parameters(u.RawQuery, parameters...)
	if err != nil {
		return location{}, err
	}
	return location{namespace: u.Host, kubeconfig: query["kubeconfig"], context: query["context"]}, nil
}
