package testserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// Etcd is a running member of an etcd cluster, which keeps its files when it restarts.
type Etcd struct {
	*Process
	// Addr is its host and port for clients.
	Addr string
	// Name is its name in the cluster.
	Name string

	peer    string // its host and port for other members
	monitor string // that of its metrics
	data    string
}

// StartEtcd starts an etcd of one member with further arguments.
func StartEtcd(tb TB, args ...string) *Etcd {
	tb.Helper()
	return StartEtcdCluster(tb, 1, args...)[0]
}

// StartEtcdCluster starts members that are one cluster, with further arguments for each, which let anybody in. It
// returns once every one of them knows the leader.
func StartEtcdCluster(tb TB, members int, args ...string) []*Etcd {
	tb.Helper()
	cluster := make([]*Etcd, members)
	all := make([]string, members)
	for i := range cluster {
		e := &Etcd{
			Addr: Addr(Port(tb)), Name: fmt.Sprintf("e%d", i), peer: Addr(Port(tb)), monitor: Addr(Port(tb)),
			data: filepath.Join(Dir(tb), "data"),
		}
		cluster[i], all[i] = e, e.Name+"=http://"+e.peer
	}
	for _, e := range cluster {
		e.start(tb, strings.Join(all, ","), args)
	}
	for _, e := range cluster {
		e.command.Ready = e.healthy
		if err := e.awaitReady(); err != nil {
			tb.Fatalf("%s has no part in the cluster: %v\n%s", e.Name, err, e.Log())
		}
	}
	return cluster
}

// start does not wait for more than the process to listen: without others there is no leader.
func (e *Etcd) start(tb TB, cluster string, args []string) {
	tb.Helper()
	client, peer := "http://"+e.Addr, "http://"+e.peer
	e.Process = Start(tb, Command{
		Program: Find(tb, "etcd"), Ready: Dial(e.peer),
		Args: append([]string{
			"--name=" + e.Name, "--data-dir=" + e.data, "--log-level=warn",
			"--listen-client-urls=" + client, "--advertise-client-urls=" + client, "--listen-metrics-urls=http://" + e.monitor,
			"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=" + cluster,
		}, args...),
	})
}

// Forget removes everything that a stopped member has kept in files.
func (e *Etcd) Forget() {
	e.tb.Helper()
	if err := os.RemoveAll(e.data); err != nil {
		e.tb.Fatalf("forget: %v", err)
	}
}

// Backup keeps the files of a stopped member. What it returns puts them back, when it is stopped again.
func (e *Etcd) Backup() (restore func()) {
	e.tb.Helper()
	backup := filepath.Join(Dir(e.tb), "backup")
	e.copyFiles(backup, e.data)
	return func() {
		e.tb.Helper()
		e.Forget()
		e.copyFiles(e.data, backup)
	}
}

func (e *Etcd) copyFiles(to, from string) {
	e.tb.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		e.tb.Fatalf("copy the files of %s: %v", e.Name, err)
	}
}

// Received returns how many messages the member has had from clients since it started: requests, and what they sent on
// streams.
func (e *Etcd) Received() int64 {
	e.tb.Helper()
	return e.sum("grpc_server_msg_received_total")
}

// Streams returns how many streams of watches the member serves.
func (e *Etcd) Streams() int64 {
	e.tb.Helper()
	return e.sum("etcd_debugging_mvcc_watch_stream_total")
}

// Proposed returns how many proposals of the cluster the member has carried out since it started: writes, whether their
// conditions held or not.
func (e *Etcd) Proposed() int64 {
	e.tb.Helper()
	return e.sum("etcd_server_proposals_applied_total")
}

// Metrics returns the member's.
func (e *Etcd) Metrics(ctx context.Context) (Metrics, error) {
	text, err := e.ask(ctx, "/metrics")
	return Metrics(text), err
}

func (e *Etcd) sum(name string) int64 {
	e.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	metrics, err := e.Metrics(ctx)
	if err != nil {
		e.tb.Fatalf("ask %s for its metrics: %v", e.Name, err)
	}
	sum, err := metrics.Sum(name)
	if err != nil {
		e.tb.Fatalf("the metrics of %s: %v", e.Name, err)
	}
	return int64(sum)
}

// healthy returns nil once the member can serve reads that a majority agrees on.
func (e *Etcd) healthy(ctx context.Context) error {
	_, err := e.ask(ctx, "/health")
	return err
}

// ask returns the answer to a request that the member answers with OK.
func (e *Etcd) ask(ctx context.Context, path string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+e.monitor+path, http.NoBody)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %s", path, response.Status, text)
	}
	return string(text), errors.Join(err, response.Body.Close())
}
