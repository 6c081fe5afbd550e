package azblob

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/lease"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/internal/certainty"
	"github.com/tenure-go/tenure/internal/objectstore"
)

// Bounds of a lease that ends by itself.
const minLease, maxLease = 15 * time.Second, 60 * time.Second

// leases hold the leases of blobs for the terms that began through this store.
//
// A lease is taken, or renewed, before the record is written, and lasts at least as long as the record's TTL: so it
// outlasts what the leader trusts. Its ID follows from the record's session and token, so that who takes over from a
// dead leader can take over its lease, and nobody else's. It is given up before the record says that the seat is
// vacant: by then nobody acts.
type leases struct {
	container *blobs
	pattern   string

	mu    sync.Mutex
	terms map[string]term // by election
}

// term is what identifies a term.
type term struct {
	session string
	token   uint64
}

func newLeases(b *blobs, pattern string) *leases {
	return &leases{container: b, pattern: pattern, terms: make(map[string]term)}
}

// leaseID returns the ID of a term's lease, which has the form of a UUID.
func leaseID(election string, t term) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "tenure blob lease\x00%s\x00%s\x00%d", election, t.session, t.token))
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// prepare brings the lease of the election's blob into the state that a write of record needs. What it returns takes
// that back if the write did not happen.
func (s *Store) prepare(
	ctx context.Context, election string, old tenure.Version, record tenure.Record,
) (undo func(context.Context), err error) {
	nothing := func(context.Context) {}
	mine, leading := s.leases.term(election)
	switch next := (term{record.Session, record.Token}); {
	case record.Vacant() && leading && record.Token >= mine.token:
		return nothing, s.leases.release(ctx, election, mine)
	case record.Vacant():
		return nothing, nil
	case leading && next == mine:
		return nothing, s.leases.acquire(ctx, election, leaseID(election, mine), record.TTL)
	default:
		return s.begin(ctx, election, old, next, record.TTL)
	}
}

// begin takes the lease for a new term. The record of another's, to which somebody adds a request, is left alone.
func (s *Store) begin(
	ctx context.Context, election string, old tenure.Version, next term, ttl time.Duration,
) (undo func(context.Context), err error) {
	current, err := s.objects.Load(ctx, election)
	if err != nil {
		return nil, certainty.Mark(err)
	}
	last := term{current.Record.Session, current.Record.Token}
	switch {
	case current.Version != old:
		return nil, tenure.ErrConflict
	case last == next:
		return func(context.Context) {}, nil
	}
	if err := s.leases.take(ctx, election, last, next, ttl); err != nil {
		return nil, err
	}
	return func(ctx context.Context) { s.leases.giveBack(ctx, election, last, next) }, nil
}

func (l *leases) term(election string) (mine term, leading bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	mine, leading = l.terms[election]
	return mine, leading
}

func (l *leases) remember(election string, t term) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.terms[election] = t
}

// forget ends a term, unless another has begun.
func (l *leases) forget(election string, t term) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.terms[election] == t {
		delete(l.terms, election)
	}
}

// blob returns the name of an election's blob.
func (l *leases) blob(election string) string {
	return strings.ReplaceAll(l.pattern, "*", objectstore.Escape(election))
}

func (l *leases) client(election, id string) (*lease.BlobClient, error) {
	return lease.NewBlobClient(l.container.client.NewBlobClient(l.blob(election)), &lease.BlobClientOptions{LeaseID: &id})
}

// seconds returns how long a lease has to last, so that it outlasts one of the record.
func seconds(ttl time.Duration) (int32, error) {
	if ttl > maxLease {
		return 0, tenure.Permanent(fmt.Errorf("%w: the lease of a blob lasts %v at most, and the TTL is %v: "+
			"shorten it, or do without WithBlobLease", tenure.ErrConfig, maxLease, ttl))
	}
	return int32((max(ttl, minLease) + time.Second - 1) / time.Second), nil
}

// take acquires the lease for the term next: from the dead leader of the term last, if that still holds it, or from an
// earlier bid of this store of which nobody knew what became.
func (l *leases) take(ctx context.Context, election string, last, next term, ttl time.Duration) error {
	id := leaseID(election, next)
	mine, _ := l.term(election)
	err := l.acquire(ctx, election, id, ttl)
	for _, before := range []term{last, mine} {
		if errors.Is(err, errHeld) && before.session != "" &&
			l.change(ctx, election, leaseID(election, before), id) == nil {
			err = l.acquire(ctx, election, id, ttl) // a changed lease keeps its duration, an acquired one does not
		}
	}
	if err == nil {
		l.remember(election, next)
	}
	return err
}

// giveBack undoes take after a lost race. If it fails, the lease runs out.
func (l *leases) giveBack(ctx context.Context, election string, last, next term) {
	l.forget(election, next)
	id := leaseID(election, next)
	if last.session == "" || l.change(ctx, election, id, leaseID(election, last)) != nil {
		_ = l.releaseID(ctx, election, id)
	}
}

// errHeld: another program holds the lease.
var errHeld = errors.New("another program holds the lease of the blob")

// held is errHeld as a store returns it. A lease does not get free in a moment: nobody needs to ask again at once.
func (l *leases) held(ctx context.Context, election string, ttl time.Duration, cause error) error {
	state := "until it runs out"
	properties, err := l.container.client.NewBlobClient(l.blob(election)).GetProperties(once(ctx), nil)
	if err == nil && properties.LeaseDuration != nil && *properties.LeaseDuration == lease.DurationTypeInfinite {
		state = "for ever: it has to release it, or somebody has to break it"
	}
	cause = fmt.Errorf("%w %s, %s: %w", errHeld, l.blob(election), state, cause)
	return tenure.NotApplied(cause, min(ttl/10, time.Second))
}

// acquire takes a lease that nobody else holds. One that is held under the same ID is extended; one that was broken
// meanwhile, or has run out, is taken again.
func (l *leases) acquire(ctx context.Context, election, id string, ttl time.Duration) error {
	duration, err := seconds(ttl)
	if err != nil {
		return err
	}
	client, err := l.client(election, id)
	if err != nil {
		return tenure.Permanent(err)
	}
	_, err = client.AcquireLease(once(ctx), duration, nil)
	if bloberror.HasCode(err, bloberror.BlobNotFound, bloberror.ContainerNotFound) {
		if _, err := l.container.Put(ctx, l.blob(election), nil, ""); err != nil && !errors.Is(err, tenure.ErrConflict) {
			return certainty.Mark(err)
		}
		_, err = client.AcquireLease(once(ctx), duration, nil)
	}
	return l.outcome(ctx, election, ttl, err)
}

func (l *leases) change(ctx context.Context, election, from, to string) error {
	client, err := l.client(election, from)
	if err != nil {
		return tenure.Permanent(err)
	}
	_, err = client.ChangeLease(once(ctx), to, nil)
	return err
}

// release gives the lease up, if it is still held.
func (l *leases) release(ctx context.Context, election string, mine term) error {
	if err := l.releaseID(ctx, election, leaseID(election, mine)); err != nil && !errors.Is(err, errHeld) {
		return err
	}
	l.forget(election, mine)
	return nil
}

func (l *leases) releaseID(ctx context.Context, election, id string) error {
	client, err := l.client(election, id)
	if err != nil {
		return tenure.Permanent(err)
	}
	_, err = client.ReleaseLease(once(ctx), nil)
	return l.outcome(ctx, election, 0, err)
}

// outcome says what is known of the record's write, which follows the operation on the lease: it was not sent.
func (l *leases) outcome(ctx context.Context, election string, ttl time.Duration, err error) error {
	switch {
	case err == nil:
		return nil
	case status(err) == 409, status(err) == 412, bloberror.HasCode(err, bloberror.BlobNotFound):
		return l.held(ctx, election, ttl, err)
	}
	return certainty.Mark(l.container.failed(err))
}
