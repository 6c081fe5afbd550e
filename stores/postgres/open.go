package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/storeurl"
)

// Open returns the store at a URL, over a pool of its own, once the server has answered. It creates the tables if there
// are none; those of an older version it leaves alone, and refuses, since other processes may still need them so:
//
//	postgres://[USER[:PASSWORD]@][HOST[:PORT][,…]][/DATABASE][?PARAMETER=VALUE&…]
//
// What is left out comes from the PG* variables, as with every PostgreSQL client. Several hosts are best used with
// target_session_attrs=read-write. The store's own parameters are
//
//	table=NAME, schema=NAME       see [WithTable] and [WithSchema]
//	push=changes or renewals      see [WithPushedRenewals]
//	poll=DURATION                 see [WithPollInterval]
//	create=false                  see [WithExistingTables]
//	migrate=true                  call [Store.Migrate], which brings older tables up to date
//	mode=table                    the other mode is advisory, for [OpenAdvisory]
//	validate=DURATION             see [WithValidation], in mode=advisory alone, as the next
//	validate_timeout=DURATION
//
// and an option overrides them. Further ones are those of libpq and pgx (sslmode, pool_max_conns, …); other settings of
// the server go into options, as in options=-c%20synchronous_commit%3Don. Unknown and repeated ones are refused.
//
// The error wraps [tenure.ErrConfig] if the URL has another form, [tenure.ErrNoStore] if the tables are missing and are
// not to be created, and [tenure.ErrPermanent] if they are older, or may not be created. No error contains the
// password.
func Open(ctx context.Context, rawURL string, options ...Option) (*Store, error) {
	s, err := open(ctx, rawURL, options)
	if err != nil {
		return nil, fmt.Errorf("postgres: opening: %w", err)
	}
	return s, nil
}

func open(ctx context.Context, rawURL string, options []Option) (*Store, error) {
	t, err := parse(rawURL)
	if err != nil {
		return nil, err
	}
	if t.mode != modeTable {
		return nil, fmt.Errorf("%w: mode=%s: Open is for mode=%s, OpenAdvisory for the other",
			tenure.ErrConfig, t.mode, modeTable)
	}
	pool, err := t.newPool(ctx)
	if err != nil {
		return nil, err
	}
	s, err := newStore(pool, append(t.options, options...))
	if err == nil {
		s.owned = true
		err = t.prepare(ctx, s)
	}
	if err != nil {
		pool.Close()
		return nil, t.redact(err)
	}
	return s, nil
}

func (t *target) prepare(ctx context.Context, s *Store) error {
	if err := s.pool.Ping(ctx); err != nil {
		return acquired(err)
	}
	return outcome(s.migrate(ctx, t.migrate))
}

// Modes of a store.
const (
	modeTable    = "table"
	modeAdvisory = "advisory"
)

// target is what a URL says.
type target struct {
	server  string // the URL without our own parameters
	secrets []string
	mode    string
	options []Option
	create  bool
	migrate bool
}

// own are the parameters of the store's, which are not passed on, and what each does.
var own = map[string]func(t *target, value string) error{
	"table":  func(t *target, value string) error { return t.add(WithTable(value)) },
	"schema": func(t *target, value string) error { return t.add(WithSchema(value)) },
	"mode": func(t *target, value string) error {
		t.mode = value
		return oneOf(value, modeTable, modeAdvisory)
	},
	"push": func(t *target, value string) error {
		return errors.Join(oneOf(value, "changes", "renewals"), t.add(WithPushedRenewals(value == "renewals")))
	},
	"poll": func(t *target, value string) error {
		d, err := storeurl.Duration(value)
		return errors.Join(err, t.add(WithPollInterval(d)))
	},
	"validate": func(t *target, value string) error {
		d, err := storeurl.Duration(value)
		return errors.Join(err, t.add(validateEvery(d)))
	},
	"validate_timeout": func(t *target, value string) error {
		d, err := storeurl.Duration(value)
		return errors.Join(err, t.add(validateWithin(d)))
	},
	"create": func(t *target, value string) (err error) {
		t.create, err = strconv.ParseBool(value)
		return err
	},
	"migrate": func(t *target, value string) (err error) {
		t.migrate, err = strconv.ParseBool(value)
		return err
	},
}

// passed are the parameters that pgx knows, and the settings of a session that clients commonly make. PostgreSQL would
// refuse all others too, but not every pooler: some ignore what they do not know.
var passed = []string{
	"host", "port", "dbname", "database", "user", "password", "passfile", "service", "servicefile", "connect_timeout",
	"sslmode", "sslkey", "sslcert", "sslcertmode", "sslrootcert", "sslnegotiation", "sslpassword", "sslsni",
	"krbspn", "krbsrvname", "target_session_attrs", "min_protocol_version", "max_protocol_version", "channel_binding",
	"require_auth", "default_query_exec_mode", "statement_cache_capacity", "description_cache_capacity",
	"pool_max_conns", "pool_min_conns", "pool_min_idle_conns", "pool_max_conn_lifetime", "pool_max_conn_idle_time",
	"pool_health_check_period", "pool_max_conn_lifetime_jitter", "pool_ping_timeout",
	"application_name", "options", "client_encoding", "search_path", "timezone", "synchronous_commit",
	"statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "tcp_user_timeout",
	"tcp_keepalives_idle", "tcp_keepalives_interval", "tcp_keepalives_count",
}

// passedDurations are those of them that are written as the store's own. What pgx says of others is Go's.
var passedDurations = []string{
	"pool_max_conn_lifetime", "pool_max_conn_idle_time", "pool_health_check_period", "pool_max_conn_lifetime_jitter",
	"pool_ping_timeout",
}

func (t *target) add(o Option) error {
	t.options = append(t.options, o)
	return nil
}

func oneOf(value string, values ...string) error {
	if slices.Contains(values, value) {
		return nil
	}
	return fmt.Errorf("want one of %s", strings.Join(values, ", "))
}

// parse takes the parameters apart. The rest of the URL is left to pgx: with several hosts it is no URL to package url.
func parse(rawURL string) (*target, error) {
	base, query, _ := strings.Cut(rawURL, "?")
	if !strings.HasPrefix(base, "postgres://") && !strings.HasPrefix(base, "postgresql://") {
		return nil, fmt.Errorf("%w: the URL does not begin with postgres://", tenure.ErrConfig)
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, fmt.Errorf("%w: the URL's parameters: %w", tenure.ErrConfig, err)
	}
	t := &target{mode: modeTable, create: true, secrets: secretsIn(base, values)}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if err := t.take(name, values[name]); err != nil {
			return nil, fmt.Errorf("%w: the URL's parameter %q: %w", tenure.ErrConfig, name, t.redact(err))
		}
		if own[name] != nil {
			values.Del(name)
		}
	}
	t.server = base
	if len(values) > 0 {
		t.server += "?" + values.Encode()
	}
	return t, t.settle()
}

// settle turns the parameters that bear upon each other into options.
func (t *target) settle() error {
	switch {
	case t.migrate && !t.create:
		return fmt.Errorf("%w: the URL's parameters create=false and migrate=true contradict each other", tenure.ErrConfig)
	case !t.create:
		return t.add(WithExistingTables())
	}
	return nil
}

func (t *target) take(name string, values []string) error {
	switch set := own[name]; {
	case len(values) > 1:
		return errors.New("it is given more than once")
	case set != nil:
		return set(t, values[0])
	case slices.Contains(passedDurations, name):
		_, err := storeurl.Duration(values[0])
		return err
	case !slices.Contains(passed, name):
		return fmt.Errorf("it is unknown; the store's own are %s, and settings of the server go into options",
			strings.Join(slices.Sorted(maps.Keys(own)), ", "))
	}
	return nil
}

// newPool makes the pool, which connects when it is first used.
func (t *target) newPool(ctx context.Context) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(t.server)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", tenure.ErrConfig, t.redact(withoutURL(err)))
	}
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = "tenure"
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	return pool, t.redact(err)
}

// withoutURL returns what is wrong with a URL, without the URL.
func withoutURL(err error) error {
	var refused *pgconn.ParseConfigError
	if !errors.As(err, &refused) {
		return err
	}
	_, why, _ := strings.Cut(refused.Error(), "`: ")
	return errors.New(why)
}

// secretsIn returns every form in which the URL holds a password.
func secretsIn(base string, values url.Values) []string {
	var all []string
	for _, name := range []string{"password", "sslpassword"} {
		all = append(all, values[name]...)
	}
	authority, _, _ := strings.Cut(strings.SplitN(base, "://", 2)[1], "/")
	if at := strings.LastIndex(authority, "@"); at >= 0 {
		if _, password, ok := strings.Cut(authority[:at], ":"); ok {
			all = append(all, password)
			if plain, err := url.PathUnescape(password); err == nil {
				all = append(all, plain)
			}
		}
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

// redact returns err, or if its text holds a password another one without, which wraps the same of our errors.
func (t *target) redact(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, secret := range t.secrets {
		text = strings.ReplaceAll(text, secret, "xxxxx")
	}
	if text == err.Error() {
		return err
	}
	for _, known := range []error{tenure.ErrConfig, tenure.ErrPermanent, tenure.ErrNotApplied} {
		if errors.Is(err, known) {
			return fmt.Errorf("%w: %s", known, text)
		}
	}
	return errors.New(text)
}
