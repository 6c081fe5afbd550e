package sidecar

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/tenure-go/tenure"
)

// Sidecar serves elections. It is made by [New] and can be served once.
type Sidecar struct {
	options   Options
	id        string
	log       *slog.Logger
	elections map[string]*election
	names     []string // in the order in which they were given
	key       [32]byte // hash of the token

	streams   chan struct{} // one element for each stream that is served
	closing   chan struct{} // closed when the sidecar ends
	campaigns sync.WaitGroup
}

// New returns a sidecar. The error says what is wrong with the options; nothing is sent to the store yet.
func New(options Options) (*Sidecar, error) {
	options.complete()
	if err := options.check(); err != nil {
		return nil, err
	}
	s := &Sidecar{
		options: options, id: options.ID, log: options.Logger, elections: map[string]*election{},
		key: hash(options.Token), streams: make(chan struct{}, options.MaxStreams), closing: make(chan struct{}),
	}
	for _, e := range options.Elections {
		if err := s.add(e); err != nil {
			return nil, fmt.Errorf("the election %q: %w", e.Name, err)
		}
	}
	return s, nil
}

func (s *Sidecar) add(e Election) error {
	if s.id == "" {
		unnamed, err := s.candidate(e)
		if err != nil {
			return err
		}
		s.id = unnamed.ID()
	}
	own, err := s.own(e) // of one open to campaigns too, for the sake of the checks
	if err != nil {
		return err
	}
	if e.Campaign {
		own = nil
	}
	s.elections[e.Name] = s.newElection(e, own)
	s.names = append(s.names, e.Name)
	return nil
}

// ID returns the ID under which the sidecar stands.
func (s *Sidecar) ID() string { return s.id }

// Serve stands in the elections and answers requests that come to the listener, until ctx ends. Then campaigns are
// told that they end, all seats are given back after their drain, and nil is returned. It closes the listener.
func (s *Sidecar) Serve(ctx context.Context, listener net.Listener) error {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var observers sync.WaitGroup
	defer observers.Wait()
	defer cancel()
	for _, e := range s.elections {
		observers.Go(func() { e.observe(running, s.options.Store) })
		if e.own == nil {
			continue
		}
		if err := e.own.Start(running); err != nil {
			return errors.Join(err, listener.Close())
		}
	}
	server := s.server()
	failed := make(chan error, 1)
	go func() { failed <- s.listen(server, listener) }()
	select {
	case err := <-failed:
		s.end(server)
		return fmt.Errorf("serving on %v: %w", s.options.Address, err)
	case <-ctx.Done():
		s.end(server)
		return nil
	}
}

func (s *Sidecar) server() *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true) // where a connection carries one stream, so that bounds on either bound both
	return &http.Server{
		Handler: s.handler(), Protocols: protocols, MaxHeaderBytes: maxHeader, TLSConfig: s.options.TLS,
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, IdleTimeout: time.Minute,
		WriteTimeout: s.options.StoreTimeout + 10*time.Second,
		ConnContext:  withPeer, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
}

// spare is how many connections there may be beside those of streams.
const spare = 128

func (s *Sidecar) listen(server *http.Server, listener net.Listener) error {
	listener = &bounded{Listener: listener, slots: make(chan struct{}, s.options.MaxStreams+spare)}
	if s.options.TLS != nil {
		return server.ServeTLS(listener, "", "")
	}
	return server.Serve(listener)
}

// end ends campaigns, candidates and requests, each within its own bounds.
func (s *Sidecar) end(server *http.Server) {
	close(s.closing)
	ctx, cancel := context.WithTimeout(context.Background(), s.patience())
	defer cancel()
	var ending sync.WaitGroup
	for _, e := range s.elections {
		if e.own != nil {
			ending.Go(func() { s.stop(ctx, e.own) })
		}
	}
	if err := server.Shutdown(ctx); err != nil {
		_ = server.Close() // whoever has not gone by now is cut off
	}
	ending.Wait()
	s.campaigns.Wait()
}

func (s *Sidecar) stop(ctx context.Context, c *tenure.Candidate) {
	if err := c.Stop(ctx); err != nil {
		s.log.Warn("the seat may not have been given back", "election", c.Election(), "candidate", c.ID(), "error", err)
	}
}

// patience bounds the end: a client that fell silent keeps its seat for as long as it may trust itself.
func (s *Sidecar) patience() time.Duration {
	longest := time.Duration(0)
	for _, e := range s.elections {
		longest = max(longest, e.TTL)
	}
	return 3*longest + 2*s.options.WriteTimeout
}
