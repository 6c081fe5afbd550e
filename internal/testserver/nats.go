package testserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// NATS is a running nats-server with JetStream, which keeps its files when it restarts.
type NATS struct {
	*Process
	// Addr is its host and port for clients.
	Addr string
	// Name is its name in the cluster.
	Name string

	monitor string // the host and port of its monitoring
	dir     string
	cluster string // the line of its configuration that makes it part of one, empty for a single server
}

// StartNATS starts a single nats-server with further lines of configuration.
func StartNATS(tb TB, config ...string) *NATS {
	tb.Helper()
	n := newNATS(tb, "single")
	n.start(tb, config, n.healthy)
	return n
}

// StartNATSCluster starts servers that are one cluster, with further lines of configuration for each, which let anybody
// in. It returns once JetStream can place a stream on all of them. via, if not nil, returns the address by which the
// server from reaches the server to, both counted from zero, whose own address is addr: that of a proxy, for example.
func StartNATSCluster(tb TB, servers int, via func(from, to int, addr string) string, config ...string) []*NATS {
	tb.Helper()
	if via == nil {
		via = func(_, _ int, addr string) string { return addr }
	}
	addrs := make([]string, servers)
	for i := range addrs {
		addrs[i] = Addr(Port(tb))
	}
	cluster := make([]*NATS, servers)
	for i := range cluster {
		var routes []string
		for to, addr := range addrs {
			if to != i {
				routes = append(routes, fmt.Sprintf("%q", "nats-route://"+via(i, to, addr)))
			}
		}
		// What they tell each other of their addresses leads nowhere, so that these routes are the only ones.
		line := fmt.Sprintf("cluster {name: test, listen: %q, advertise: \"127.0.0.1:1\", pool_size: -1, routes: [%s]}",
			addrs[i], strings.Join(routes, ", "))
		cluster[i] = newNATS(tb, fmt.Sprintf("n%d", i))
		cluster[i].cluster = line
		cluster[i].start(tb, config, Dial(cluster[i].Addr))
	}
	for _, n := range cluster {
		n.command.Ready = n.healthy
		if err := n.awaitReady(); err != nil {
			tb.Fatalf("%s has no part in JetStream: %v\n%s", n.Name, err, n.Log())
		}
	}
	cluster[0].awaitPlacement(servers)
	return cluster
}

func newNATS(tb TB, name string) *NATS {
	tb.Helper()
	return &NATS{Addr: Addr(Port(tb)), Name: name, monitor: Addr(Port(tb)), dir: Dir(tb)}
}

func (n *NATS) start(tb TB, config []string, ready func(context.Context) error) {
	tb.Helper()
	if err := n.configure(config); err != nil {
		tb.Fatalf("configure nats-server: %v", err)
	}
	n.Process = Start(tb, Command{Program: Find(tb, "nats-server"), Args: []string{"-c", n.path()}, Ready: ready})
}

func (n *NATS) path() string { return filepath.Join(n.dir, "server.conf") }

// configure writes the file that the server reads.
func (n *NATS) configure(config []string) error {
	lines := append([]string{
		fmt.Sprintf("server_name: %s", n.Name), fmt.Sprintf("listen: %q", n.Addr), fmt.Sprintf("http: %q", n.monitor),
		fmt.Sprintf("jetstream {store_dir: %q, max_memory_store: 64MB, max_file_store: 1GB}", filepath.Join(n.dir, "js")),
		n.cluster,
	}, config...)
	return os.WriteFile(n.path(), []byte(strings.Join(lines, "\n")+"\n"), 0o600)
}

// Reconfigure has the server go on with other further lines of configuration than it was started with, and returns once
// it does. One that does not run finds them when it starts. The server refuses changes that it cannot make while it
// runs; the error then has what it printed.
func (n *NATS) Reconfigure(config ...string) error {
	if err := n.configure(config); err != nil {
		return fmt.Errorf("configure %s: %w", n.Name, err)
	}
	if n.PID() == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	before, err := n.configured(ctx)
	if err != nil {
		return err
	}
	if err := n.signal(syscall.SIGHUP); err != nil {
		return fmt.Errorf("have %s read its configuration: %w", n.Name, err)
	}
	for {
		now, err := n.configured(ctx)
		switch {
		case err != nil:
			return fmt.Errorf("%s goes on as it was configured: %w\n%s", n.Name, err, n.Log())
		case now != before:
			return nil
		}
		time.Sleep(5 * time.Millisecond) // nothing tells
	}
}

// configured returns when the server has last read its configuration.
func (n *NATS) configured(ctx context.Context) (string, error) {
	var answer struct {
		At string `json:"config_load_time"`
	}
	err := n.query(ctx, "/varz", &answer)
	return answer.At, err
}

// Forget removes everything that a stopped server has kept in files.
func (n *NATS) Forget() {
	n.tb.Helper()
	if err := os.RemoveAll(filepath.Join(n.dir, "js")); err != nil {
		n.tb.Fatalf("forget: %v", err)
	}
}

// Received returns how many messages the server has had from its clients whose connections have the name, from all of
// them if it is empty. Those of other servers are not counted, nor what a closed connection has sent.
func (n *NATS) Received(name string) int64 {
	n.tb.Helper()
	var connections struct {
		List []struct {
			Name string `json:"name"`
			In   int64  `json:"in_msgs"`
		} `json:"connections"`
	}
	n.monitored("/connz?limit=100000", &connections)
	var sum int64
	for _, c := range connections.List {
		if name == "" || name == c.Name {
			sum += c.In
		}
	}
	return sum
}

func (n *NATS) monitored(path string, answer any) {
	n.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := n.query(ctx, path, answer); err != nil {
		n.tb.Fatalf("%v", err)
	}
}

// query asks the server's monitoring for something.
func (n *NATS) query(ctx context.Context, path string, answer any) error {
	response, err := n.ask(ctx, path)
	if err == nil {
		err = errors.Join(json.NewDecoder(response.Body).Decode(answer), response.Body.Close())
	}
	if err != nil {
		return fmt.Errorf("ask %s for %s: %w", n.Name, path, err)
	}
	return nil
}

func (n *NATS) ask(ctx context.Context, path string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+n.monitor+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(request)
}

// healthy returns nil once the server has recovered what it kept and, in a cluster, is up to date with its leader.
func (n *NATS) healthy(ctx context.Context) error {
	response, err := n.ask(ctx, "/healthz")
	if err != nil {
		return err
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("its health is %s", response.Status)
	}
	return nil
}

// awaitPlacement waits until a stream can be placed on all servers of the cluster. Its leader hears what each of them
// has to offer some time after all are healthy.
func (n *NATS) awaitPlacement(servers int) {
	n.tb.Helper()
	const create, remove = "$JS.API.STREAM.CREATE.testserver", "$JS.API.STREAM.DELETE.testserver"
	config := fmt.Sprintf(`{"name":"testserver","subjects":["testserver"],"num_replicas":%d}`, servers)
	var err error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if err = n.request(create, config); err == nil {
			if err = n.request(remove, ""); err == nil {
				return
			}
		}
	}
	n.tb.Fatalf("no stream can be placed on %d servers: %v", servers, err)
}

// request asks JetStream for something, without a client library, and returns the error in its answer.
func (n *NATS) request(subject, body string) error {
	conn, err := net.DialTimeout("tcp", n.Addr, patience)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(2 * time.Second)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(conn, "CONNECT {\"verbose\":false}\r\nSUB answer 1\r\nPUB %s answer %d\r\n%s\r\n",
		subject, len(body), body); err != nil {
		return err
	}
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		switch line := lines.Text(); {
		case strings.HasPrefix(line, "-ERR"), strings.HasPrefix(line, "{") && strings.Contains(line, `"error"`):
			return errors.New(line)
		case strings.HasPrefix(line, "{"):
			return nil
		}
	}
	return errors.Join(errors.New("there is no answer"), lines.Err())
}
