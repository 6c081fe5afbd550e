// Command httpservice is a service of which every node answers, and one node, the leader, does the writes. Nodes pass
// writes on to it, and the storage behind refuses a node that was deposed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/tenure-go/tenure"
	"github.com/tenure-go/tenure/file"
	"github.com/tenure-go/tenure/leaderhttp"
)

func main() {
	if err := run(); err != nil {
		slog.Error("the node failed", "error", err)
		os.Exit(1)
	}
}

func run() (err error) {
	var (
		elections = flag.String("elections", filepath.Join(os.TempDir(), "tenure-httpservice"), "shared `directory`")
		storage   = flag.String("storage", "http://localhost:9000", "`URL` of the storage")
		listen    = flag.String("listen", "localhost:0", "`address` to listen on, for clients and other nodes")
		id        = flag.String("id", fmt.Sprintf("node-%d", os.Getpid()), "`name` of this node")
		ttl       = flag.Duration("ttl", tenure.DefaultTTL, "how long after a failure the next node takes over")
	)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	store, err := file.Open(*elections) // or any other store
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }() // the server has done so, if it came so far
	candidate, err := tenure.New(store, "notes", tenure.WithID(*id), tenure.WithTTL(*ttl),
		tenure.WithAddress(listener.Addr().String()), // where other nodes pass writes on to
		tenure.WithLogger(slog.Default()))
	if err != nil {
		return err
	}
	handler, err := routes(candidate, *storage, *ttl)
	if err != nil {
		return err
	}
	if err := candidate.Start(context.WithoutCancel(ctx)); err != nil { // it is stopped by serve
		return err
	}
	slog.Info("serving", "id", *id, "listen", listener.Addr().String())
	return serve(ctx, candidate, &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}, listener)
}

// routes are what a node answers: reads itself, writes if it leads, and questions of load balancers.
func routes(candidate *tenure.Candidate, storage string, timeout time.Duration) (http.Handler, error) {
	reader := &notes{storage, &http.Client{Timeout: timeout}}
	// The transport gives each request the fencing token, and sends none once the term is over by the clock.
	writer := &notes{storage, &http.Client{Timeout: timeout, Transport: leaderhttp.NewTransport(nil)}}
	// Between the nodes: no proxy of the environment, and no longer wait for a leader that hangs than for its lease.
	between := &http.Transport{ResponseHeaderTimeout: timeout, MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute}
	gate, err := leaderhttp.NewGate(candidate, http.HandlerFunc(writer.write),
		leaderhttp.WithProxy(between), leaderhttp.WithLogger(slog.Default()))
	if err != nil {
		return nil, err
	}
	probes, err := leaderhttp.NewProbes(candidate)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /notes/{name}", reader.read)
	mux.Handle("PUT /notes/{name}", gate)
	mux.Handle("/probes/", http.StripPrefix("/probes", probes)) // in earnest on a port of its own: it tells much
	return mux, nil
}

// serve serves until ctx ends. The seat is given up first, while the server still answers: from then on writes go to
// the next leader, those that come here too.
func serve(ctx context.Context, candidate *tenure.Candidate, server *http.Server, listener net.Listener) error {
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return errors.Join(err, candidate.Stop(context.Background()))
	case <-ctx.Done():
	}
	err := candidate.Stop(context.Background())
	last, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return errors.Join(err, server.Shutdown(last))
}

// notes passes requests on to the storage.
type notes struct {
	storage string
	client  *http.Client
}

func (n *notes) read(w http.ResponseWriter, r *http.Request) { n.pass(w, r, nil) }

// write is behind the gate: the request's context ends with the term, and the seat waits for it to return.
func (n *notes) write(w http.ResponseWriter, r *http.Request) {
	n.pass(w, r, http.MaxBytesReader(w, r.Body, 1<<20))
}

func (n *notes) pass(w http.ResponseWriter, r *http.Request, body io.Reader) {
	out, err := http.NewRequestWithContext(r.Context(), r.Method, n.storage+r.URL.EscapedPath(), body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	resp, err := n.client.Do(out)
	if err != nil {
		unavailable(w, err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode == http.StatusPreconditionFailed {
		unavailable(w, errors.New("a newer leader has written")) // the client's next attempt reaches that one
		return
	}
	w.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(w, resp.Body) // a client that has gone needs no answer
}

// unavailable asks the client to try again. It can: to put the same note twice is to put it once.
func unavailable(w http.ResponseWriter, err error) {
	slog.Warn("not served", "error", err)
	w.Header().Set("Retry-After", "1")
	http.Error(w, "try again", http.StatusServiceUnavailable)
}
