package postgres

import (
	"fmt"
	"time"

	"github.com/tenure-go/tenure"
)

// Names without [WithSchema] and [WithTable].
const (
	// DefaultSchema is the schema of every database.
	DefaultSchema = "public"
	// DefaultTable names the table; the state of the whole is in tenure_state, and the view is tenure_leaders.
	DefaultTable = "tenure"
)

// Bounds of [WithPollInterval].
const (
	minPoll = 10 * time.Millisecond
	maxPoll = time.Hour
)

// Option configures a [Store].
type Option interface{ apply(*config) }

type option func(*config)

func (o option) apply(c *config) { o(c) }

type config struct {
	schema, table string
	pushRenewals  bool
	poll          time.Duration // 0: a share of the shortest TTL
	safety        time.Duration
	probe         time.Duration // how long a notification may take
	fenceLimit    time.Duration // of a fenced transaction; 0: what is left of the lease
	existing      bool
}

// WithSchema sets the schema of the table, 1 to 63 bytes. Default [DefaultSchema]. The search path is never used.
func WithSchema(name string) Option { return option(func(c *config) { c.schema = name }) }

// WithTable sets the table's name, 1 to 55 bytes, from which that of the other table (NAME_state), of the view
// (NAME_leaders) and of the channel are made. Default [DefaultTable].
func WithTable(name string) Option { return option(func(c *config) { c.table = name }) }

// WithExistingTables has [Open], [OpenAdvisory] and [Store.Migrate] create and change nothing: they only check that the
// tables are there, as [MigrationSQL] makes them, and fail with [tenure.ErrNoStore] if they are not. It is for programs
// that only look, or that shall never create anything. Default: they create them.
func WithExistingTables() Option { return option(func(c *config) { c.existing = true }) }

// WithPushedRenewals has each renewal told to all watching processes by a notification, instead of looked for by a
// poll. Then a dead leader is followed up to a poll interval sooner, for one statement per renewal and watching
// process. But PostgreSQL lets only one transaction that notifies commit at a time, in the whole cluster of databases:
// leave it off where hundreds of elections, or other users of NOTIFY, share a server. All processes on a table must
// agree. Default off.
func WithPushedRenewals(on bool) Option { return option(func(c *config) { c.pushRenewals = on }) }

// WithPollInterval sets how often a process with watches looks for the renewals of leaders in other processes, with one
// statement for all its elections. It bounds how much later than its TTL a dead leader is followed. Default: a fifth of
// the shortest TTL among the leaders watched; bounds 10 ms and 1 h.
func WithPollInterval(d time.Duration) Option { return option(func(c *config) { c.poll = d }) }

func newConfig(options []Option) (*config, error) {
	c := &config{schema: DefaultSchema, table: DefaultTable, safety: 30 * time.Second, probe: 2 * time.Second}
	for _, o := range options {
		if o != nil {
			o.apply(c)
		}
	}
	if c.poll != 0 && (c.poll < minPoll || c.poll > maxPoll) {
		return nil, fmt.Errorf("%w: a poll interval of %v is not between %v and %v",
			tenure.ErrConfig, c.poll, minPoll, maxPoll)
	}
	if c.fenceLimit != 0 && (c.fenceLimit < minFenceLimit || c.fenceLimit > maxFenceLimit) {
		return nil, fmt.Errorf("%w: a fence limit of %v is not between %v and %v",
			tenure.ErrConfig, c.fenceLimit, minFenceLimit, maxFenceLimit)
	}
	return c, nil
}
