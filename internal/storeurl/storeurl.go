// Package storeurl reads what the URLs of stores have in common. Its errors repeat no value, since one may be a secret,
// but for those that are none.
package storeurl

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Parameters returns those of a URL's query. Each has to be one of the known ones, to be there once, and to have a
// value.
func Parameters(rawQuery string, known ...string) (map[string]string, error) {
	query, err := url.ParseQuery(rawQuery)
	if err != nil {
		return nil, errors.New("the parameters of the URL cannot be read: percent-encode %, & and ;")
	}
	parameters := make(map[string]string)
	for _, name := range slices.Sorted(maps.Keys(query)) {
		switch values := query[name]; {
		case !slices.Contains(known, name):
			return nil, fmt.Errorf("there is no parameter %q of the URL; known: %s", name, strings.Join(known, ", "))
		case len(values) > 1:
			return nil, fmt.Errorf("parameter %q of the URL is repeated", name)
		case values[0] == "":
			return nil, fmt.Errorf("parameter %q of the URL is empty", name)
		default:
			parameters[name] = values[0]
		}
	}
	return parameters, nil
}

// Bool returns the value of a parameter, false if it is not there.
func Bool(parameters map[string]string, name string) (bool, error) {
	text, ok := parameters[name]
	if !ok {
		return false, nil
	}
	value, err := strconv.ParseBool(text)
	if err != nil {
		return false, fmt.Errorf("%s %q: want true or false", name, text)
	}
	return value, nil
}

// Prefix returns the prefix of names that a path stands for: it ends in a slash, whether or not the path does. An empty
// path stands for byDefault.
func Prefix(path, byDefault string) string {
	name := strings.Trim(path, "/")
	if name == "" {
		return byDefault
	}
	return name + "/"
}
