package tenuregrpc

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"google.golang.org/grpc/attributes"
	"google.golang.org/grpc/resolver"

	"github.com/tenure-go/tenure"
)

// Scheme is the scheme of the targets that a [Resolver] is for.
const Scheme = "tenure"

// Target returns the target of an election's leader for [google.golang.org/grpc.NewClient], "tenure:///election".
func Target(election string) string { return Scheme + ":///" + url.PathEscape(election) }

var _ resolver.Builder = (*Resolver)(nil)

// Resolver is a [resolver.Builder] whose clients reach the leader of an election. Give it to
// [google.golang.org/grpc.WithResolvers], with a [Target]; one serves any number of clients and elections of its store.
// Each client that is not idle observes its election with one goroutine; where the store pushes nothing it polls it
// five times per TTL.
type Resolver struct {
	store  tenure.Store
	find   findAddress
	logger *slog.Logger
}

// NewResolver returns a resolver for the elections in store. The error wraps [tenure.ErrConfig].
func NewResolver(store tenure.Store, options ...ResolverOption) (*Resolver, error) {
	r := &Resolver{store: store, find: advertised}
	for _, o := range options {
		if o != nil {
			o.applyResolver(r)
		}
	}
	if store == nil || r.find == nil {
		return nil, fmt.Errorf("%w: a resolver needs a store and a way to find addresses; one of them is nil",
			tenure.ErrConfig)
	}
	return r, nil
}

// Scheme implements [resolver.Builder].
func (*Resolver) Scheme() string { return Scheme }

// Build implements [resolver.Builder].
func (r *Resolver) Build(
	target resolver.Target, cc resolver.ClientConn, _ resolver.BuildOptions,
) (resolver.Resolver, error) {
	election, err := electionOf(target)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	f := &follower{
		Resolver: r, election: election, cc: cc, log: logger(r.logger, election),
		cancel: cancel, done: make(chan struct{}),
	}
	go f.run(ctx)
	return f, nil
}

// electionOf returns the name in a target, which has nothing else.
func electionOf(target resolver.Target) (string, error) {
	u := target.URL
	if u.Host != "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "" {
		return "", fmt.Errorf("%w: the target must be %s:///election; see Target", tenure.ErrConfig, Scheme)
	}
	return target.Endpoint(), tenure.CheckElection(target.Endpoint())
}

// follower keeps one client at the leader.
type follower struct {
	*Resolver
	election string
	cc       resolver.ClientConn
	log      *slog.Logger
	cancel   context.CancelFunc
	done     chan struct{} // closed when the goroutine has ended

	known bool  // the election was seen
	at    place // where the client was sent
}

// place is a leader's process and its address; zero if there is none.
type place struct{ address, session string }

// sessionKey finds, in an address's attributes, the process that it is of. Since gRPC compares them, a process that was
// restarted at the same address gets a new connection at once, whatever the back-off that the old one has reached.
type sessionKey struct{}

// ResolveNow implements [resolver.Resolver]. There is nothing to do: changes are observed as they happen.
func (*follower) ResolveNow(resolver.ResolveNowOptions) {}

// Close implements [resolver.Resolver]. When it has returned nothing of the resolver runs, but for a call to the store
// that has not returned within a second of its context's end.
func (f *follower) Close() {
	f.cancel()
	<-f.done
}

// How long to wait after the store said that trying again is useless, until somebody has repaired the cause.
const (
	firstPause = time.Second
	maxPause   = time.Minute
)

func (f *follower) run(ctx context.Context) {
	defer close(f.done)
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, maxPause) {
		for change, err := range tenure.Observe(ctx, f.store, f.election) {
			f.take(ctx, change, err)
			if err == nil {
				pause = firstPause
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// take passes on what is observed. A client that cannot read the store stays with the leader that it knows, which may
// well be able to; if not, its gate says so.
func (f *follower) take(ctx context.Context, change tenure.Change, err error) {
	switch {
	case err != nil:
		f.log.Warn("the election cannot be observed", "error", err)
		if !f.known {
			f.cc.ReportError(err)
		}
		return
	case change.Kind == tenure.ChangeSilent && !f.readable(ctx, change):
		return
	}
	f.known = true
	if !change.Led() {
		f.none(fmt.Errorf("election %q has no leader at present", f.election))
		return
	}
	address, err := f.find.of(change.Record)
	if err != nil {
		f.log.Warn("the leader cannot be reached", "error", err)
		f.none(fmt.Errorf("election %q: %w", f.election, err))
		return
	}
	f.send(place{address, change.Record.Session})
}

// readable reports whether it was the leader that fell silent, and not the store.
func (f *follower) readable(ctx context.Context, change tenure.Change) bool {
	ctx, cancel := context.WithTimeout(ctx, change.Record.TTL)
	defer cancel()
	_, err := f.store.Load(ctx, f.election)
	return err == nil
}

// send sends the client to a leader.
func (f *follower) send(to place) {
	if to == f.at {
		return
	}
	f.at = to
	f.tell(resolver.State{Addresses: []resolver.Address{{
		Addr: to.address, ServerName: serverName(to.address), Attributes: attributes.New(sessionKey{}, to.session),
	}}})
}

// tell passes a state on. The error asks for another attempt, which would change nothing.
func (f *follower) tell(s resolver.State) {
	if err := f.cc.UpdateState(s); err != nil {
		f.log.Debug("the client has no use for an address", "addresses", len(s.Addresses), "error", err)
	}
}

// none takes the client from a leader that does not lead any more. An error alone would not: clients ignore it as long
// as they have an address.
func (f *follower) none(reason error) {
	if f.at != (place{}) {
		f.at = place{}
		f.tell(resolver.State{})
	}
	f.cc.ReportError(reason)
}
