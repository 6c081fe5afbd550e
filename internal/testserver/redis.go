package testserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Redis is a running Redis server or Sentinel.
type Redis struct {
	*Process
	// Addr is its host and port.
	Addr string
	// Dir is where it keeps its data.
	Dir string

	tb TB
}

// StartRedis starts a Redis server with further arguments, such as --appendonly yes. Unless they say otherwise, it
// keeps nothing: a restart loses all.
func StartRedis(tb TB, args ...string) *Redis {
	tb.Helper()
	return startRedis(tb, Dir(tb), Port(tb), args...)
}

func startRedis(tb TB, dir string, port int, args ...string) *Redis {
	tb.Helper()
	args = append([]string{
		"--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--dir", dir, "--save", "", "--appendonly", "no",
		"--repl-diskless-sync-delay", "0", "--databases", "64",
	}, args...)
	// In a file and not as arguments: whom it follows, as a Sentinel has it written there, outlives the process.
	config := configure(tb, filepath.Join(dir, "redis.conf"), directives(args))
	process := Start(tb, Command{
		Program: Find(tb, "redis-server"), Args: []string{config}, Unprivileged: true, Ready: redisAnswers(Addr(port)),
	})
	return &Redis{Process: process, Addr: Addr(port), Dir: dir, tb: tb}
}

// directives returns arguments as the lines of a configuration.
func directives(args []string) string {
	var text strings.Builder
	for _, a := range args {
		name, begins := strings.CutPrefix(a, "--")
		switch {
		case begins:
			text.WriteString("\n" + name)
		case a == "":
			text.WriteString(` ""`)
		default:
			text.WriteString(" " + a)
		}
	}
	return text.String() + "\n"
}

// configure writes a configuration that a server of another user can rewrite, and returns its path.
func configure(tb TB, path, text string) string {
	tb.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		tb.Fatalf("write a configuration: %v", err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		tb.Fatalf("open a configuration to its server: %v", err)
	}
	return path
}

// StartReplica starts a Redis server that follows another one, and returns once it has its data.
func StartReplica(tb TB, master *Redis, args ...string) *Redis {
	tb.Helper()
	host, port, _ := strings.Cut(master.Addr, ":")
	r := StartRedis(tb, append([]string{"--replicaof", host + " " + port}, args...)...)
	r.Await("INFO replication", "master_link_status:up")
	return r
}

// StartSentinel starts a Sentinel that watches over a master under a name, alone decides on a fail-over, and does so
// soon after the master has ended. It returns once it knows so many replicas.
func StartSentinel(tb TB, name string, master *Redis, replicas int) *Redis {
	tb.Helper()
	dir, port := Dir(tb), Port(tb)
	host, masterPort, _ := strings.Cut(master.Addr, ":")
	config := fmt.Sprintf(`port %d
bind 127.0.0.1
dir %s
sentinel monitor %s %s %s 1
sentinel down-after-milliseconds %s 1500
sentinel failover-timeout %s 2000
`, port, dir, name, host, masterPort, name, name)
	path := configure(tb, filepath.Join(dir, "sentinel.conf"), config)
	process := Start(tb, Command{
		Program: Find(tb, "redis-sentinel"), Args: []string{path}, Unprivileged: true, Ready: redisAnswers(Addr(port)),
	})
	s := &Redis{Process: process, Addr: Addr(port), Dir: dir, tb: tb}
	s.Await("SENTINEL MASTER "+name, fmt.Sprintf("num-slaves\n%d\n", replicas))
	return s
}

// slots is how many slots a Cluster has.
const slots = 16384

// StartRedisCluster starts a Cluster of so many masters without replicas, each with an even share of the slots. Unless
// the arguments say otherwise, none is given up for standing still.
func StartRedisCluster(tb TB, masters int, args ...string) []*Redis {
	tb.Helper()
	var nodes []*Redis
	for i := range masters {
		port := Port(tb)
		n := startRedis(tb, Dir(tb), port, append([]string{
			"--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(Port(tb)), "--cluster-node-timeout", "20000",
		}, args...)...)
		n.MustDo(fmt.Sprintf("CLUSTER ADDSLOTSRANGE %d %d", i*slots/masters, (i+1)*slots/masters-1))
		nodes = append(nodes, n)
	}
	for _, n := range nodes[1:] {
		host, port, _ := strings.Cut(n.Addr, ":")
		bus := redisLine(n.MustDo("CONFIG GET cluster-port"), 1)
		nodes[0].MustDo(fmt.Sprintf("CLUSTER MEET %s %s %s", host, port, bus))
	}
	for _, n := range nodes {
		n.Await("CLUSTER INFO", "cluster_state:ok", fmt.Sprintf("cluster_known_nodes:%d", masters))
		n.Await("CLUSTER SLOTS", nodeAddresses(nodes)...)
	}
	return nodes
}

// nodeAddresses are how CLUSTER SLOTS names nodes.
func nodeAddresses(nodes []*Redis) []string {
	var all []string
	for _, n := range nodes {
		all = append(all, strings.ReplaceAll(n.Addr, ":", "\n")+"\n")
	}
	return all
}

func redisLine(text string, n int) string {
	lines := strings.Split(text, "\n")
	if n >= len(lines) {
		return ""
	}
	return lines[n]
}

// MustDo carries out a command, its words parted by spaces, and returns the reply, one element a line. It stops the
// test on an error.
func (r *Redis) MustDo(command string) string {
	r.tb.Helper()
	reply, err := r.Do(command)
	if err != nil {
		r.tb.Fatalf("%s: %v", command, err)
	}
	return reply
}

// Do is MustDo that returns the error.
func (r *Redis) Do(command string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return redisDo(ctx, r.Addr, command)
}

// Await repeats a command until the reply contains all that is wanted.
func (r *Redis) Await(command string, wanted ...string) {
	r.tb.Helper()
	var reply string
	lacks := func(part string) bool { return !strings.Contains(reply, part) }
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if reply, _ = r.Do(command); !slices.ContainsFunc(wanted, lacks) {
			return
		}
		time.Sleep(5 * time.Millisecond) // nothing tells
	}
	r.tb.Fatalf("%s still says, without one of %q:\n%s", command, wanted, reply)
}

// Calls returns how often each command was called since CONFIG RESETSTAT, by clients and by scripts.
func (r *Redis) Calls() map[string]int {
	r.tb.Helper()
	calls := map[string]int{}
	for line := range strings.Lines(r.MustDo("INFO commandstats")) {
		name, stats, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		var n int
		if _, err := fmt.Sscanf(stats, "calls=%d", &n); err == nil {
			calls[strings.TrimPrefix(name, "cmdstat_")] = n
		}
	}
	return calls
}

// redisAnswers is a Ready: a server that loads its data answers PING with an error.
func redisAnswers(addr string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := redisDo(ctx, addr, "PING")
		if err != nil && strings.HasPrefix(err.Error(), "NOAUTH") {
			return nil // it answers
		}
		return err
	}
}

func redisDo(ctx context.Context, addr, command string) (string, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return "", err
		}
	}
	if _, err := fmt.Fprintf(conn, "%s\r\n", command); err != nil {
		return "", err
	}
	return redisReply(bufio.NewReader(conn))
}

// redisReply reads a reply in Redis's protocol, version 2.
func redisReply(r *bufio.Reader) (string, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimRight(line, "\r\n")
	if line == "" {
		return "", errors.New("an empty line is no reply")
	}
	kind, text := line[0], line[1:]
	n, _ := strconv.Atoi(text)
	switch {
	case kind == '-':
		return "", errors.New(text)
	case kind == '$' && n >= 0:
		bulk := make([]byte, n+2)
		_, err := io.ReadFull(r, bulk)
		return string(bulk[:max(len(bulk)-2, 0)]), err
	case kind == '*':
		return redisArray(r, n)
	case kind == '$':
		return "", nil
	}
	return text, nil
}

func redisArray(r *bufio.Reader, n int) (string, error) {
	var all strings.Builder
	for range n {
		element, err := redisReply(r)
		if err != nil {
			return "", err
		}
		all.WriteString(element + "\n")
	}
	return all.String(), nil
}
