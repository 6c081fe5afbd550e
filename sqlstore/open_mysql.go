package sqlstore

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
)

// mysqlTLS are the values of the driver's parameter tls that need nothing to be registered.
var mysqlTLS = []string{"true", "false", "skip-verify", "preferred"}

// mysqlSource writes the data source name as go-sql-driver reads it: user, colon, password, each as it is, up to the
// last @ before the last slash; then the address, and the database, escaped.
func mysqlSource(u *url.URL) (source, error) {
	p, err := parametersOf(u, "table", "create", "migrate", "tls", "socket")
	if err != nil {
		return source{}, err
	}
	options, migrate, err := p.options()
	if err != nil {
		return source{}, err
	}
	database := strings.TrimPrefix(u.Path, "/")
	if database == "" || u.User.Username() == "" {
		return source{}, errors.New("the URL names no user or no database; want mysql://user:password@host/database")
	}
	if strings.Contains(u.User.Username(), ":") {
		return source{}, errors.New("the URL's user has a colon in its name, which the driver cannot express")
	}
	address, err := mysqlAddress(u, p)
	if err != nil {
		return source{}, err
	}
	// With parameters put in by the client a statement takes one round trip, not two.
	driverOptions := url.Values{"interpolateParams": {"true"}}
	if tls, given := p["tls"]; given {
		if !slices.Contains(mysqlTLS, tls) {
			return source{}, fmt.Errorf("the parameter tls is %q, want one of %s", tls, strings.Join(mysqlTLS, ", "))
		}
		driverOptions.Set("tls", tls)
	}
	password, _ := u.User.Password()
	dsn := fmt.Sprintf("%s:%s@%s/%s?%s",
		u.User.Username(), password, address, url.PathEscape(database), driverOptions.Encode())
	return source{driver: "mysql", dsn: dsn, dialect: MySQL{}, options: options, migrate: migrate}, nil
}

func mysqlAddress(u *url.URL, p parameters) (string, error) {
	socket := p["socket"]
	switch {
	case socket != "" && u.Host != "":
		return "", errors.New("the URL names a host and a socket; want one of them")
	case socket != "":
		return "unix(" + socket + ")", nil
	case u.Hostname() == "":
		return "", errors.New("the URL names neither a host nor a socket")
	}
	port := u.Port()
	if port == "" {
		port = "3306"
	}
	return "tcp(" + net.JoinHostPort(u.Hostname(), port) + ")", nil
}
