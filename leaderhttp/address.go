package leaderhttp

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// parseAddress makes a URL of what a leader advertises.
func parseAddress(address, scheme string) (*url.URL, error) {
	if address == "" {
		return nil, errors.New("the leader advertises no address; see tenure.WithAddress")
	}
	text := address
	if !strings.Contains(address, "://") {
		text = scheme + "://" + address
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("the advertised address is neither host:port nor a URL: %w", err)
	}
	return u, checkURL(u)
}

// checkURL refuses what a request cannot be sent to, and what would change it on the way.
func checkURL(u *url.URL) error {
	switch {
	case u == nil:
		return errors.New("the leader has no URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("the leader's URL has the scheme %q, not http or https", u.Scheme)
	case u.Hostname() == "":
		return errors.New("the leader's URL names no host")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("the leader's URL must have no user, query or fragment")
	}
	return nil
}
