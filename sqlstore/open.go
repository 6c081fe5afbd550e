package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/tenure-go/tenure"
)

// source is what a URL says about how to reach a database.
type source struct {
	driver  string // the name under which the driver registers itself
	dsn     string // what the driver wants to be told; it may hold a password, so that no error may quote it
	dialect Dialect
	options []Option
	migrate bool // older tables are brought up to date
	// check, unless nil, looks before the driver does whether there can be a database, or if existing whether there is.
	check func(existing bool) error
}

// Open opens the store that a URL names, creates its tables if there are none, and closes the database with the store.
// Tables of an older version it leaves alone, and refuses: other processes may still need them as they are. The program
// links the driver, by importing it for its side effect:
//
//	mysql://user:password@host:3306/database    github.com/go-sql-driver/mysql
//	sqlite:///absolute/path.db                  modernc.org/sqlite
//	sqlite:relative/path.db
//
// Parameters of both: table, as [WithTable]; create=false, as [WithExistingTables]; migrate=true, to call
// [Store.Migrate], which brings older tables up to date. Of MySQL: tls, as the driver has it (true, false, skip-verify,
// preferred); socket, the path of a Unix socket instead of host and port. Options come on top of the parameters.
//
// For PostgreSQL there is a richer store, in the module stores/postgres; this one works with PostgreSQL by [New].
//
// The error wraps [tenure.ErrConfig] if the URL or an option is wrong or the driver is not linked, [tenure.ErrNoStore]
// if the tables are missing and are not to be created, and [tenure.ErrPermanent] if they are older, or may not be
// created. It never quotes the password.
func Open(ctx context.Context, rawURL string, options ...Option) (*Store, error) {
	from, err := parseURL(rawURL)
	if err != nil {
		return nil, fmt.Errorf("sqlstore: opening: %w: %w", tenure.ErrConfig, err)
	}
	if !slices.Contains(sql.Drivers(), from.driver) {
		return nil, fmt.Errorf("sqlstore: opening: %w: no driver %q is linked into the program; import %s",
			tenure.ErrConfig, from.driver, driverPackages[from.driver])
	}
	db, err := sql.Open(from.driver, from.dsn)
	if err != nil {
		return nil, fmt.Errorf("sqlstore: opening: %w: the driver %q refuses the URL", tenure.ErrConfig, from.driver)
	}
	s, err := New(db, from.dialect, append(from.options, options...)...)
	if err == nil {
		s.owned = true
		err = s.prepare(ctx, from)
	}
	if err != nil {
		_ = db.Close() // the first error says more
		return nil, err
	}
	return s, nil
}

// prepare makes sure that the tables are there, as far as the URL and the options allow.
func (s *Store) prepare(ctx context.Context, from source) error {
	var err error
	if from.check != nil {
		err = from.check(s.config.existing)
	}
	if err == nil {
		err = s.migrate(ctx, from.migrate)
	}
	if err != nil {
		return fmt.Errorf("sqlstore: opening: %w", err)
	}
	return nil
}

var driverPackages = map[string]string{"mysql": "github.com/go-sql-driver/mysql", "sqlite": "modernc.org/sqlite"}

func parseURL(rawURL string) (source, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		var inner *url.Error
		if errors.As(err, &inner) {
			err = inner.Err // without the URL, which may hold a password
		}
		return source{}, fmt.Errorf("the store is no URL: %w", err)
	}
	switch u.Scheme {
	case "mysql", "mariadb":
		return mysqlSource(u)
	case "sqlite":
		return sqliteSource(u)
	}
	return source{}, fmt.Errorf("the scheme %q is unknown; want mysql://user:password@host/database or sqlite:///path",
		u.Scheme)
}

// parameters are those of a URL, each given at most once.
type parameters map[string]string

// parametersOf refuses what is unknown or repeated: a misspelt parameter must not be ignored.
func parametersOf(u *url.URL, known ...string) (parameters, error) {
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("the parameters of the URL cannot be read: %w", err)
	}
	out := parameters{}
	for name, values := range query {
		switch {
		case !slices.Contains(known, name):
			return nil, fmt.Errorf("the URL has no parameter %q; known: %s", name, strings.Join(known, ", "))
		case len(values) > 1:
			return nil, fmt.Errorf("the URL has the parameter %q more than once", name)
		}
		out[name] = values[0]
	}
	return out, nil
}

// options returns those that every kind of database has, and whether older tables are to be brought up to date.
func (p parameters) options() (options []Option, migrate bool, err error) {
	if table, given := p["table"]; given {
		options = append(options, WithTable(table))
	}
	create, err := p.flag("create", true)
	if err == nil {
		migrate, err = p.flag("migrate", false)
	}
	switch {
	case err != nil:
		return nil, false, err
	case migrate && !create:
		return nil, false, errors.New("the parameters create=false and migrate=true contradict each other")
	case !create:
		options = append(options, WithExistingTables())
	}
	return options, migrate, nil
}

func (p parameters) flag(name string, otherwise bool) (bool, error) {
	switch value, given := p[name]; {
	case !given:
		return otherwise, nil
	case value == "true", value == "false":
		return value == "true", nil
	default:
		return false, fmt.Errorf("the parameter %s is %q, want true or false", name, value)
	}
}
