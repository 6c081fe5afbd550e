package tenuregrpc

import (
	"log/slog"
	"time"

	"github.com/tenure-go/tenure"
)

// ResolverOption configures a [Resolver].
type ResolverOption interface{ applyResolver(*Resolver) }

// GateOption configures a [Gate].
type GateOption interface{ applyGate(*Gate) }

// GuardOption configures a [Guard].
type GuardOption interface{ applyGuard(*Guard) }

// AddressOption is for a [Resolver] and for a [Gate].
type AddressOption interface {
	ResolverOption
	GateOption
}

// MethodOption is for a [Gate] and for a [Guard].
type MethodOption interface {
	GateOption
	GuardOption
}

// LogOption is for all three.
type LogOption interface {
	ResolverOption
	GateOption
	GuardOption
}

type addressOption struct{ find findAddress }

func (o addressOption) applyResolver(r *Resolver) { r.find = o.find }
func (o addressOption) applyGate(g *Gate)         { g.find = o.find }

// WithLeaderAddress replaces the way in which the leader's address is found: by default it is the one that the leader
// advertises with [tenure.WithAddress]. It is for leaders that advertise something else there, such as a URL, and have
// the address for gRPC in their metadata. Either way it is host:port or unix:///path. find is called concurrently.
func WithLeaderAddress(find func(tenure.Record) (string, error)) AddressOption {
	return addressOption{find}
}

type methodOption func(*methods)

func (o methodOption) applyGate(g *Gate)   { o(&g.methods) }
func (o methodOption) applyGuard(g *Guard) { o(&g.methods) }

// WithMethods limits a gate or a guard to the methods named, as "/package.Service/Method", or "/package.Service/" for
// all of a service. May be given repeatedly. Default: every method of the server, health checks and reflection
// included. A name that the server does not have would protect nothing: see the Check method of both.
func WithMethods(names ...string) MethodOption {
	return methodOption(func(m *methods) { m.name(names) })
}

// WithMethodFunc limits a gate or a guard to the methods for which match returns true, beside those of [WithMethods].
// It is called with the full name, concurrently.
func WithMethodFunc(match func(fullMethod string) bool) MethodOption {
	return methodOption(func(m *methods) { m.funcs, m.limited = append(m.funcs, match), true })
}

type logOption struct{ logger *slog.Logger }

func (o logOption) applyResolver(r *Resolver) { r.logger = o.logger }
func (o logOption) applyGate(g *Gate)         { g.logger = o.logger }
func (o logOption) applyGuard(g *Guard)       { g.logger = o.logger }

// WithLogger logs to l what callers are not told, or not all of: failures of the store and useless addresses at warn,
// marks that could not be raised at error. Default: silent.
func WithLogger(l *slog.Logger) LogOption { return logOption{l} }

type guardOption func(*Guard)

func (o guardOption) applyGuard(g *Guard) { o(g) }

// WithTokenOptional lets calls through that carry neither election nor token. Those that do are checked.
func WithTokenOptional() GuardOption { return guardOption(func(g *Guard) { g.optional = true }) }

// WithPatience sets how long the first call of a new term waits for those of earlier terms to return, before it is
// answered with Unavailable. Default 10 s, more than 0.
func WithPatience(d time.Duration) GuardOption {
	return guardOption(func(g *Guard) { g.patience = d })
}

// logger returns l, or one that is silent.
func logger(l *slog.Logger, election string) *slog.Logger {
	if l == nil {
		l = slog.New(slog.DiscardHandler)
	}
	return l.With("election", election)
}
