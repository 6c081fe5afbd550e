package tenure

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"math"
	mathrand "math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/tenure-go/tenure/internal/clock"
	"github.com/tenure-go/tenure/internal/protocol"
)

// Bounds and defaults of a lease.
const (
	// DefaultTTL is the TTL without [WithTTL].
	DefaultTTL = 10 * time.Second
	// MinTTL and MaxTTL are the bounds of a TTL.
	MinTTL = 100 * time.Millisecond
	MaxTTL = protocol.MaxTTL

	defaultClockError = 0.01
)

// Option configures a [Candidate]. [New] checks all of them together.
type Option interface{ apply(*config) }

type option func(*config)

func (o option) apply(c *config) { o(c) }

// config is what the options fill in. Durations that are still unset get a share of the TTL in complete.
type config struct {
	protocol.Config

	priority    int
	address     string
	metadata    map[string]string
	health      func(context.Context) error
	healthEvery time.Duration
	observers   []func(Event)
	logger      *slog.Logger
	minGrade    Grade
	clock       func() (mono, wall time.Duration)
	random      mathrand.Source
}

// WithID sets the candidate's ID, by which people and [Candidate.TransferTo] know it: 1 to 255 bytes of UTF-8 without
// control characters. The default, which an empty id stands for too, is made of host name, process ID and a random
// part. Two processes with one ID never both lead, since a random session tells them apart; but nobody else can.
func WithID(id string) Option { return option(func(c *config) { c.ID = id }) }

// WithTTL sets the length of the lease: how long a leader that died stays undisturbed. Default [DefaultTTL], bounds
// [MinTTL] and [MaxTTL], a whole number of milliseconds (some stores: seconds). Candidates of one election may differ;
// each lease counts with the TTL that its leader wrote.
func WithTTL(d time.Duration) Option { return option(func(c *config) { c.TTL = d }) }

// WithDrain sets the time that leader work gets to return after its context has ended and before anybody else can
// lead. It is taken from the lease. Default TTL/5, at least 10 ms or TTL/100, whichever is
// less: otherwise no work could return in time.
func WithDrain(d time.Duration) Option {
	return option(func(c *config) { c.Drain = d })
}

// WithClockError sets the bound e on the error of the rates of this process's clocks, as a fraction. Default 0.01,
// bounds 0 and 0.1. It costs e of the lease while the candidate leads, and e of the leader's TTL more to wait for while
// it stands by. Candidates of one election need not agree on it: each allows for its own clocks.
func WithClockError(e float64) Option { return option(func(c *config) { c.ClockError = e }) }

// WithRenewInterval sets how often a leader renews its lease; each interval is shortened by a random tenth at most.
// Default TTL/3. The lease must leave time for a renewal that is lost and for one more:
// interval + 2·call timeout <= TTL·(1-e) - g - drain, where e is that of [WithClockError] and g the grain of the
// system's clocks: 1 µs, or 16 ms on Windows.
func WithRenewInterval(d time.Duration) Option {
	return option(func(c *config) { c.RenewEvery = d })
}

// WithPollInterval sets how often a standing candidate looks at a store that cannot push changes, or whose watch is
// interrupted; each interval is shortened by a random tenth at most. It bounds how long a vacancy goes unnoticed.
// Default TTL/5, at most the TTL.
func WithPollInterval(d time.Duration) Option {
	return option(func(c *config) { c.PollEvery = d })
}

// WithCallTimeout bounds one call to the store; the rest of the lease bounds it too. Default TTL/6. It should be at
// least two round trips to the store: then the lease has room to find out what became of a reply that was lost.
func WithCallTimeout(d time.Duration) Option {
	return option(func(c *config) { c.CallTimeout = d })
}

// Backoff spaces the calls to a store that fails.
type Backoff struct {
	// Initial is the first pause. Default TTL/50.
	Initial time.Duration
	// Max is the longest pause. A leader shortens it to TTL/10, and further if its lease left no time for one more call.
	// Default TTL/2.
	Max time.Duration
	// Factor is that of each pause to the one before. Default 2, at least 1.
	Factor float64
	// Jitter is the random share, between 0 and 1, by which a pause is shortened at most. Default 0.5.
	Jitter float64
}

// WithBackoff sets how calls to a failing store are spaced. A store that says how long to wait ([NotApplied]) is
// obeyed beyond this, by a leader as far as its lease leaves time for one more call. After ten failures in a row a
// candidate that does not lead makes ten calls per TTL at most, however short the pauses are. A field that is zero
// keeps its default, except for Jitter.
func WithBackoff(b Backoff) Option {
	return option(func(c *config) { c.Backoff = protocol.Backoff(b) })
}

// WithMaxFailures ends a term, with [ErrUnhealthy], after n failed calls in a row although the lease still stands.
// Default 0: only the lease decides, so that an outage shorter than that changes nothing.
func WithMaxFailures(n int) Option { return option(func(c *config) { c.MaxFailures = n }) }

// WithPriority sets how readily the candidate takes a free seat, from 0 (default: at once) down to -10. Each step
// down leaves a free seat to others for another TTL/20, or where the store does not push for another poll interval.
func WithPriority(p int) Option { return option(func(c *config) { c.priority = p }) }

// WithBidSpread delays each bid for a free seat by a random time of up to d, which spares a herd of candidates
// rejected requests and costs hand-over time. Default 0.
func WithBidSpread(d time.Duration) Option { return option(func(c *config) { c.BidSpread = d }) }

// WithReleaseOnStop sets whether a candidate that is stopped gives its seat back, free to others at once, or leaves it
// to run out. Default true.
func WithReleaseOnStop(release bool) Option { return option(func(c *config) { c.Release = release }) }

// WithAddress puts the address under which the leader can be reached into the record. Default none.
func WithAddress(address string) Option { return option(func(c *config) { c.address = address }) }

// WithMetadata puts information for others into the record while the candidate leads. Default none.
func WithMetadata(metadata map[string]string) Option {
	return option(func(c *config) { c.metadata = maps.Clone(metadata) })
}

// WithHealthCheck calls check every interval (zero: TTL/10). While it fails, or has not returned within
// an interval, the candidate gives up its term and does not stand. Nor does it before the first verdict of each run. It
// never delays a renewal. Its context ends with the interval; stopping waits for it to return.
func WithHealthCheck(check func(context.Context) error, interval time.Duration) Option {
	return option(func(c *config) {
		c.health, c.HealthChecked = check, check != nil
		if interval != 0 {
			c.healthEvery = interval
		}
	})
}

// WithObserver has f called with every [Event], in order and never concurrently with itself. It may take its time: no
// renewal waits for it. Of the events that it does not keep up with the last 256 are kept. It must not wait for the
// candidate's Stop or for the end of its Run. May be given repeatedly.
//
// An observer that begins something upon EventElected has to have stopped it before it returns from EventEnded: the
// seat is given up once every observer has returned from that, or the drain has passed. An observer that blocks
// therefore costs each hand-over the drain.
func WithObserver(f func(Event)) Option {
	return option(func(c *config) { c.observers = append(c.observers, f) })
}

// WithLogger logs to l: terms at level info, failures of the store at warn, every decision at debug. Default: silent.
// The handler is called in order and never concurrently with itself, and it may block: nothing waits for it but Run,
// Stop and their like in the end. Of the lines that it does not keep up with the last 256 are kept, and it is told how
// many were dropped.
func WithLogger(l *slog.Logger) Option { return option(func(c *config) { c.logger = l }) }

// WithMinimumGrade refuses to start, with [ErrGrade], on a store whose guarantee is weaker. Default [GradeUnknown]:
// any store will do.
func WithMinimumGrade(g Grade) Option { return option(func(c *config) { c.minGrade = g }) }

// WithClock replaces the system's clocks in tests: read returns a monotonic reading and a wall reading, each from an
// origin of its own. It is called concurrently. Timers still run by the system's clock.
func WithClock(read func() (mono, wall time.Duration)) Option {
	return option(func(c *config) { c.clock = read })
}

// WithRandom replaces the source of the spread of timers in tests. It is used by one goroutine at a time. The session's
// nonce, which keeps two processes from being taken for one, does not come from it.
func WithRandom(source mathrand.Source) Option { return option(func(c *config) { c.random = source }) }

// unset marks a duration that no option has set, since zero may be meant.
const unset = time.Duration(math.MinInt64)

// newConfig applies the options over the defaults and checks the whole.
func newConfig(options []Option, watches bool, unit time.Duration) (*config, error) {
	c := &config{healthEvery: unset, Config: protocol.Config{
		TTL: DefaultTTL, ClockError: defaultClockError, Release: true, Watch: watches,
		Grain: clock.Grain, Drain: unset, RenewEvery: unset, PollEvery: unset, CallTimeout: unset,
		Backoff: protocol.Backoff{Jitter: 0.5},
	}}
	for _, o := range options {
		if o != nil {
			o.apply(c)
		}
	}
	c.complete()
	if err := c.check(unit); err != nil {
		return nil, err
	}
	return c, nil
}

// complete gives what was left unset its share of the TTL.
func (c *config) complete() {
	for _, d := range []struct {
		value *time.Duration
		share time.Duration
	}{
		{&c.Drain, c.TTL / 5},
		{&c.RenewEvery, c.TTL / 3},
		{&c.PollEvery, c.TTL / 5},
		{&c.CallTimeout, c.TTL / 6},
		{&c.healthEvery, c.TTL / 10},
	} {
		if *d.value == unset {
			*d.value = d.share
		}
	}
	c.completeBackoff()
	c.completeIdentity()
	step := c.PollEvery
	if c.Watch {
		step = c.TTL / 20
	}
	c.PriorityDelay = time.Duration(-c.priority) * step
}

func (c *config) completeIdentity() {
	c.Session = rand.Text()
	if c.random == nil {
		c.random = mathrand.NewPCG(mathrand.Uint64(), mathrand.Uint64())
	}
	if c.ID == "" {
		c.ID = defaultID(c.Session)
	}
}

func (c *config) completeBackoff() {
	b := &c.Backoff
	if b.Initial == 0 {
		b.Initial = c.TTL / 50
	}
	if b.Max == 0 {
		b.Max = max(c.TTL/2, b.Initial)
	}
	if b.Factor == 0 {
		b.Factor = 2
	}
}

func (c *config) check(unit time.Duration) error {
	if err := checkName("candidate", c.ID); err != nil {
		return err
	}
	switch {
	case c.TTL < MinTTL || c.TTL > MaxTTL:
		return fmt.Errorf("%w: TTL %v must be between %v and %v", ErrConfig, c.TTL, MinTTL, MaxTTL)
	case c.TTL%unit != 0:
		return fmt.Errorf("%w: TTL %v must be a multiple of %v, or the store could not hold it exactly",
			ErrConfig, c.TTL, unit)
	case c.priority < -10 || c.priority > 0:
		return fmt.Errorf("%w: priority %d must be between -10 and 0", ErrConfig, c.priority)
	case c.minGrade > GradeExclusive:
		return fmt.Errorf("%w: minimum grade %d is none of the grades, the highest of which is %d",
			ErrConfig, c.minGrade, GradeExclusive)
	case c.healthEvery < 0:
		return fmt.Errorf("%w: health check interval %v must not be negative", ErrConfig, c.healthEvery)
	}
	for _, f := range c.observers {
		if f == nil {
			return fmt.Errorf("%w: an observer is nil", ErrConfig)
		}
	}
	if err := c.Config.Check(); err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return nil
}

// defaultID is unique, and tells people where the candidate runs.
func defaultID(session string) string {
	host, err := os.Hostname()
	if err != nil || checkName("host", host) != nil {
		host = "localhost"
	}
	if len(host) > 200 {
		host = strings.ToValidUTF8(host[:200], "")
	}
	return fmt.Sprintf("%s-%d-%s", host, os.Getpid(), strings.ToLower(session[:6]))
}
