package kubernetes

import (
	"context"
	"fmt"
	"regexp"
	"sync"
	"sync/atomic"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/feed"
)

var (
	_ tenure.Store     = (*Store)(nil)
	_ tenure.Watcher   = (*Store)(nil)
	_ tenure.Lister    = (*Store)(nil)
	_ tenure.Pruner    = (*Store)(nil)
	_ tenure.Guarantor = (*Store)(nil)
)

// Store is a [tenure.Store] in the Leases of a namespace. All methods are safe for concurrent use, by any number of
// Stores on the same namespace in any number of processes, beside electors of client-go on the same Leases.
type Store struct {
	client    coordinationclient.LeasesGetter
	leases    coordinationclient.LeaseInterface
	namespace string
	config    config
	release   func() // of the connections that Open made; nil if it made none

	allowed atomic.Bool // whether the API server has let us in before

	feeds   *feed.Feeds[entry]
	refused refusal // of watches

	mu   sync.Mutex
	last map[string]*coordinationv1.Lease // by name, as it was seen last: what an update starts from
}

// New returns a store in a namespace, which has to exist. It makes no request. The error wraps [tenure.ErrConfig].
//
// The client is that of client-go, clientset.CoordinationV1() or what [coordinationclient.NewForConfig] returns, and
// stays the caller's. By default it sends five requests a second at most (rest.Config.QPS) and makes the rest wait, and
// it takes 45 seconds to notice a connection that hangs; [Open] makes one that does neither.
func New(client coordinationclient.LeasesGetter, namespace string, options ...Option) (*Store, error) {
	c, err := newConfig(options)
	if err == nil {
		err = checkNamespace(namespace)
	}
	if err == nil && client == nil {
		err = fmt.Errorf("%w: the client is nil", tenure.ErrConfig)
	}
	if err != nil {
		return nil, fmt.Errorf("kubernetes: %w", err)
	}
	s := &Store{
		client: client, leases: client.Leases(namespace), namespace: namespace, config: c,
		last: make(map[string]*coordinationv1.Lease),
	}
	s.feeds = newFeeds(s)
	return s, nil
}

var validNamespace = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

func checkNamespace(name string) error {
	if !validNamespace.MatchString(name) {
		return fmt.Errorf("%w: the namespace %q: want at most 63 small letters, digits and - within", tenure.ErrConfig, name)
	}
	return nil
}

// Close ends the store: every later call fails with [tenure.ErrPermanent], and each watch is told so by a last delivery
// before Close returns. It closes the connections if [Open] made them. Close may be called more than once, but not from
// within a deliver function. Stop the candidates first. The error is always nil.
func (s *Store) Close() error {
	s.feeds.Close()
	if s.release != nil {
		s.release()
	}
	return nil
}

// Load implements [tenure.Store]. It is answered by a majority of etcd, not from a cache.
func (s *Store) Load(ctx context.Context, election string) (tenure.Snapshot, error) {
	snapshot, err := s.load(ctx, election)
	if err != nil {
		return tenure.Snapshot{}, fmt.Errorf("kubernetes: loading %q: %w", election, err)
	}
	return snapshot, nil
}

func (s *Store) load(ctx context.Context, election string) (tenure.Snapshot, error) {
	if err := s.enter(ctx, election); err != nil {
		return tenure.Snapshot{}, err
	}
	lease, err := s.get(ctx, leaseName(election))
	if err != nil {
		return tenure.Snapshot{}, err
	}
	return s.judge(ctx, lease)
}

// judge returns what a Lease says, or its absence. Only where no candidate has written yet the floor matters.
func (s *Store) judge(ctx context.Context, lease *coordinationv1.Lease) (tenure.Snapshot, error) {
	var floor uint64
	if lease == nil || lease.Annotations[annotation] == "" {
		var err error
		if floor, err = s.floor(ctx); err != nil {
			return tenure.Snapshot{}, err
		}
	}
	if lease == nil {
		return tenure.Snapshot{Record: tenure.Record{Token: floor}}, nil
	}
	return snapshotOf(lease, floor)
}

// enter refuses a call that can do nothing.
func (s *Store) enter(ctx context.Context, election string) error {
	if err := tenure.CheckElection(election); err != nil {
		return tenure.Permanent(err)
	}
	return s.usable(ctx)
}

func (s *Store) usable(ctx context.Context) error {
	if s.feeds.Closed() {
		return errClosed
	}
	return ctx.Err()
}

// get returns a Lease, nil if there is none.
func (s *Store) get(ctx context.Context, name string) (*coordinationv1.Lease, error) {
	ctx, asked := hear(ctx)
	lease, err := s.leases.Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		lease = nil
	case err != nil:
		return nil, s.failed(err, asked)
	default:
		s.note(name, lease)
	}
	s.allowed.Store(true)
	return lease, nil
}

// note keeps what was seen of a Lease last. What the watch brings may be older than what an update has returned.
func (s *Store) note(name string, lease *coordinationv1.Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if before := s.last[name]; before == nil || before.UID != lease.UID || counter(before) < counter(lease) {
		s.last[name] = lease
	}
}

// noted returns a Lease in a version, nil if another one was seen last.
func (s *Store) noted(name string, version tenure.Version) *coordinationv1.Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	if lease := s.last[name]; lease != nil && versionOf(lease) == version {
		return lease
	}
	return nil
}
