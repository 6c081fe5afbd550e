package sidecar

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/tenure-go/tenure"
)

// Defaults and bounds of [Options].
const (
	// DefaultMaxStreams is the number of streams that are served at once.
	DefaultMaxStreams = 1000
	// maxStreams bounds what can be asked for: every stream takes a file descriptor.
	maxStreams = 100_000
	// maxBody bounds the body of a request.
	maxBody = 64 << 10
	// maxHeader bounds the header of a request.
	maxHeader = 16 << 10
	// minDrain is what a client needs to hear that its term is over, and to say that it has stopped.
	minDrain = 100 * time.Millisecond
)

// Options say what a sidecar serves, and to whom. [New] checks them.
type Options struct {
	// Store holds the elections. It stays the caller's.
	Store tenure.Store
	// ID is that of the sidecar's own candidates. Default: made of host name, process ID and a random part.
	ID string
	// Elections are those that are served, at least one.
	Elections []Election
	// Describe names the state of an election after a change, and says why it changed.
	Describe func(before, now tenure.Change) (state, reason string)

	// Address is where to listen.
	Address Address
	// Token, if there is one, has to come with every request.
	Token string
	// TLS, if there is one, is served instead of plain HTTP.
	TLS *tls.Config
	// Hosts are names, beyond those that are certainly its own, under which the sidecar may be asked.
	Hosts []string

	// MaxStreams bounds the streams served at once. Default [DefaultMaxStreams].
	MaxStreams int
	// StoreTimeout bounds a request that has to reach the store. Default 10 s.
	StoreTimeout time.Duration
	// WriteTimeout is how long a client may take to accept what is written to it. Default 5 s.
	WriteTimeout time.Duration
	// Heartbeat is the longest silence on a stream. Default 15 s; a campaign's is a sixth of its TTL if that is less.
	Heartbeat time.Duration
	// Logger gets a line for every change of state that somebody asks for. Default: silent.
	Logger *slog.Logger
}

// Election is one that a sidecar serves.
type Election struct {
	// Name of the election.
	Name string
	// Campaign opens the election to the campaigns of clients. Otherwise the sidecar itself stands.
	Campaign bool
	// TTL and Drain are those of every candidate of this sidecar.
	TTL, Drain time.Duration
	// Address, Metadata and Priority are the own candidate's. Clients bring theirs.
	Address  string
	Metadata map[string]string
	Priority int
}

func (o *Options) complete() {
	if o.MaxStreams == 0 {
		o.MaxStreams = DefaultMaxStreams
	}
	for _, d := range []struct {
		value *time.Duration
		usual time.Duration
	}{{&o.StoreTimeout, 10 * time.Second}, {&o.WriteTimeout, 5 * time.Second}, {&o.Heartbeat, 15 * time.Second}} {
		if *d.value == 0 {
			*d.value = d.usual
		}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}

func (o *Options) check() error {
	switch {
	case o.MaxStreams < 1 || o.MaxStreams > maxStreams:
		return fmt.Errorf("the maximum of %d streams must be between 1 and %d", o.MaxStreams, maxStreams)
	case len(o.Elections) == 0:
		return fmt.Errorf("there is no election to serve")
	case o.Address.network == "":
		return fmt.Errorf("there is no address to listen on")
	case !o.Address.local && o.Token == "" && !mutual(o.TLS):
		return fmt.Errorf("others can reach %v, so clients have to prove who they are: "+
			"give a token file, or a TLS certificate and key with the authority of the clients", o.Address)
	}
	names := map[string]bool{}
	for _, e := range o.Elections {
		if err := e.check(); err != nil {
			return err
		}
		if names[e.Name] {
			return fmt.Errorf("the election %q is given twice", e.Name)
		}
		names[e.Name] = true
	}
	return nil
}

func (e Election) check() error {
	if err := tenure.CheckElection(e.Name); err != nil {
		return err
	}
	switch {
	case e.Name == "." || e.Name == "..":
		return fmt.Errorf("the election %q cannot be part of a URL's path", e.Name)
	case e.Campaign && e.Drain < minDrain:
		return fmt.Errorf("the drain %v of the election %q is too short for its clients to stop: want %v at least",
			e.Drain, e.Name, minDrain)
	case e.Campaign && (e.Address != "" || len(e.Metadata) > 0 || e.Priority != 0):
		return fmt.Errorf("the election %q is open to campaigns, whose clients bring address, metadata and priority "+
			"themselves", e.Name)
	}
	return nil
}

// candidate makes a candidate of the election.
func (s *Sidecar) candidate(e Election, options ...tenure.Option) (*tenure.Candidate, error) {
	return tenure.New(s.options.Store, e.Name, append([]tenure.Option{
		tenure.WithTTL(e.TTL), tenure.WithDrain(e.Drain), tenure.WithLogger(s.log),
	}, options...)...)
}

// own makes the candidate by which the sidecar itself stands.
func (s *Sidecar) own(e Election) (*tenure.Candidate, error) {
	return s.candidate(e, tenure.WithID(s.id), tenure.WithAddress(e.Address),
		tenure.WithMetadata(maps.Clone(e.Metadata)), tenure.WithPriority(e.Priority))
}
