package tenureclientgo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/tenure-go/tenure"
)

var _ resourcelock.Interface = (*Lock)(nil)

// Lock is a [resourcelock.Interface] over a tenure store, for one elector. It is safe for concurrent use.
type Lock struct {
	store    tenure.Store
	election string
	identity string
	session  string
	address  string
	timeout  time.Duration
	logger   *slog.Logger

	mu      sync.Mutex
	sight   sight
	attempt uint64 // the last number given to a write
}

// DefaultCallTimeout is the bound of a call without [WithCallTimeout].
const DefaultCallTimeout = 2 * time.Second

// Option configures a [Lock].
type Option interface{ apply(*Lock) }

type option func(*Lock)

func (o option) apply(l *Lock) { o(l) }

// WithCallTimeout bounds each call to the store; what is answered later has failed. Default [DefaultCallTimeout]. It
// must be more than 0, and less than LeaseDuration; see the package comment for what it has to leave.
func WithCallTimeout(d time.Duration) Option { return option(func(l *Lock) { l.timeout = d }) }

// WithAddress puts the address under which the leader can be reached into the record. Default none.
func WithAddress(address string) Option { return option(func(l *Lock) { l.address = address }) }

// WithLogger logs to l what the elector reports. Default: silent.
func WithLogger(logger *slog.Logger) Option { return option(func(l *Lock) { l.logger = logger }) }

// NewLock returns a lock on an election, under the identity by which people know this process. The error wraps
// [tenure.ErrConfig]. Nothing is sent to the store yet.
func NewLock(store tenure.Store, election, identity string, options ...Option) (*Lock, error) {
	if identity == "" {
		return nil, fmt.Errorf("%w: the lock's identity is empty", tenure.ErrConfig)
	}
	if _, err := tenure.New(store, election, tenure.WithID(identity)); err != nil && !coarse(store) {
		return nil, err
	}
	l := &Lock{
		store: store, election: election, identity: identity, session: rand.Text(),
		timeout: DefaultCallTimeout, logger: slog.New(slog.DiscardHandler),
	}
	for _, o := range options {
		if o != nil {
			o.apply(l)
		}
	}
	if l.timeout <= 0 {
		return nil, fmt.Errorf("%w: the call timeout %v must be more than 0", tenure.ErrConfig, l.timeout)
	}
	if l.logger == nil {
		l.logger = slog.New(slog.DiscardHandler)
	}
	l.sight = sight{session: l.session, identity: identity}
	return l, nil
}

// Get implements [resourcelock.Interface]. The bytes change with the record's mark, not with requests to its leader.
func (l *Lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	s, err := l.store.Load(ctx, l.election)
	if err != nil {
		return nil, nil, fmt.Errorf("loading election %q: %w", l.election, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sight.take(s, time.Now())
	if !s.Exists() && !l.sight.lost() {
		return nil, nil, apierrors.NewNotFound(resource, l.election)
	}
	return l.sight.show(), []byte(l.sight.mark), nil
}

// Create implements [resourcelock.Interface].
func (l *Lock) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sight.last.Exists() {
		return apierrors.NewAlreadyExists(resource, l.election)
	}
	return l.put(ctx, r)
}

// Update implements [resourcelock.Interface]. It writes only what follows from the state that the last call has seen:
// a renewal or the release of the lock's own term, or a new term if the seat is free.
func (l *Lock) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.put(ctx, r)
}

// RecordEvent implements [resourcelock.Interface].
func (l *Lock) RecordEvent(event string) {
	l.logger.Info("the elector "+event, "election", l.election, "candidate", l.identity)
}

// Identity implements [resourcelock.Interface].
func (l *Lock) Identity() string { return l.identity }

// Describe implements [resourcelock.Interface].
func (l *Lock) Describe() string { return "tenure election " + l.election }

// Token returns the fencing token of the term that the lock held when it last saw the record, false if it held none. It
// reads no clock, and so does not say that the term still stands: pass the token on to whatever the leader changes, so
// that a deposed leader can be refused there.
func (l *Lock) Token() (uint64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sight.last.Record.Token, l.sight.ours()
}

// put writes what the elector asks for, if it may be written.
func (l *Lock) put(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	ttl := time.Duration(r.LeaseDurationSeconds) * time.Second
	switch {
	case !l.sight.known:
		return l.conflict(errors.New("it was not read yet"))
	case r.HolderIdentity == "" && !l.sight.ours():
		// Not a conflict, after which client-go would read the record and release whatever it then finds.
		return fmt.Errorf("election %q is not released: %w", l.election, tenure.ErrNotLeader)
	case r.HolderIdentity == "":
		return l.swap(ctx, l.release())
	case r.HolderIdentity != l.identity:
		return fmt.Errorf("%w: the lock of %q cannot write for %q", tenure.ErrConfig, l.identity, r.HolderIdentity)
	case ttl <= l.timeout || ttl > tenure.MaxTTL:
		return fmt.Errorf("%w: LeaseDuration %v must be between the call timeout %v and %v, in whole seconds",
			tenure.ErrConfig, ttl, l.timeout, tenure.MaxTTL)
	case l.sight.ours() && l.sight.last.Record.TTL == ttl:
		return l.swap(ctx, l.renewal())
	case !l.sight.free(time.Now()):
		return l.conflict(errors.New("the seat is not free"))
	case l.sight.highest >= tenure.MaxToken:
		return tenure.Permanent(fmt.Errorf("no token is left for election %q", l.election))
	}
	return l.swap(ctx, l.bid(ttl))
}

// swap writes a record in place of the one last seen. A result that comes late is none, whatever it says.
func (l *Lock) swap(ctx context.Context, r tenure.Record) error {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	s, err := l.store.CompareAndSwap(ctx, l.election, l.sight.last.Version, r)
	if err == nil {
		l.sight.take(s, time.Now())
		err = ctx.Err()
	}
	switch {
	case errors.Is(err, tenure.ErrConflict):
		return l.conflict(err)
	case err != nil:
		return fmt.Errorf("writing election %q: %w", l.election, err)
	}
	return nil
}

// resource is what Kubernetes' errors are about.
var resource = schema.GroupResource{Group: "tenure", Resource: "elections"}

// conflict is an error that both client-go and tenure know as one.
func (l *Lock) conflict(err error) error {
	if !errors.Is(err, tenure.ErrConflict) {
		err = fmt.Errorf("%w: %w", tenure.ErrConflict, err)
	}
	return &conflict{apierrors.NewConflict(resource, l.election, err), err}
}

type conflict struct {
	*apierrors.StatusError
	err error
}

func (c *conflict) Unwrap() error { return c.err }
