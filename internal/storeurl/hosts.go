package storeurl

import (
	"errors"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// Split takes a URL apart whose authority may name several hosts with ports, which package url would not take. What
// follows the authority it leaves to that package.
func Split(rawURL string) (scheme, authority string, tail *url.URL, err error) {
	scheme, rest, _ := strings.Cut(rawURL, "://")
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	tail, err = url.Parse(rest[end:])
	if err != nil || tail.Fragment != "" {
		// err may hold a password.
		return "", "", nil, errors.New("what follows the host in the URL cannot be read: percent-encode % # ? and spaces")
	}
	return scheme, rest[:end], tail, nil
}

// Authority returns who connects to which hosts: user:password@host:port,host. The user is nil if there is none. Hosts
// without a port get the default one.
func Authority(text, defaultPort string) (user *url.Userinfo, hosts []string, err error) {
	names := text
	if at := strings.LastIndex(text, "@"); at >= 0 {
		names = text[at+1:]
		if user, err = userOf(text[:at]); err != nil {
			return nil, nil, err
		}
	}
	for name := range strings.SplitSeq(names, ",") {
		host, err := address(name, defaultPort)
		if err != nil {
			return nil, nil, err
		}
		hosts = append(hosts, host)
	}
	return user, hosts, nil
}

func userOf(text string) (*url.Userinfo, error) {
	name, password, hasPassword := strings.Cut(text, ":")
	name, errName := url.PathUnescape(name)
	password, errPassword := url.PathUnescape(password)
	switch {
	case errName != nil || errPassword != nil:
		return nil, errors.New("the user or the password in the URL has a bad percent-encoding")
	case hasPassword:
		return url.UserPassword(name, password), nil
	}
	return url.User(name), nil
}

func address(text, defaultPort string) (string, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		host, port = text, defaultPort
		if inner, ok := strings.CutPrefix(text, "["); ok {
			if host, ok = strings.CutSuffix(inner, "]"); !ok {
				host = ""
			}
		} else if strings.Contains(text, ":") {
			host = ""
		}
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil || host == "" || strings.ContainsAny(host, "[]%@ ") {
		return "", errors.New("cannot read a server in the URL: want HOST or HOST:PORT, and IPv6 addresses in brackets")
	}
	return net.JoinHostPort(host, port), nil
}
