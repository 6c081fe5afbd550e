//go:build linux

package beds

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/tenure-go/tenure/internal/testserver"
)

// Only the proxies' addresses are to be known to clients.
const unadvertised = `client_advertise: "127.0.0.1:1"`

// synced has a server sync every write. The directory is in the one that each server works in.
const synced = `jetstream {store_dir: "synced", max_memory_store: 64MB, max_file_store: 1GB, sync_interval: always}`

// natsUser is whom the candidates connect as. Who says nothing is the administrator, as this harness does.
const natsUser = candidateRole + ":secret"

// What a server's configuration says of the candidates' user.
const (
	// permitted is all that a candidate needs.
	permitted = "{user: " + candidateRole + `, password: secret, permissions: {
	publish: ["$KV.elections.>", "$JS.API.STREAM.INFO.KV_elections", "$JS.API.STREAM.CREATE.KV_elections",
		"$JS.API.STREAM.MSG.GET.KV_elections", "$JS.API.CONSUMER.CREATE.KV_elections.>"]
	subscribe: ["_INBOX.>"]
}}`
	// forbidden leaves it connected, and removes what it has subscribed to.
	forbidden = "{user: " + candidateRole + `, password: secret, permissions: {
	publish: {deny: ">"}, subscribe: {deny: ">"}
}}`
	// unknown disconnects it, and does not let it in again.
	unknown = ""
)

func natsConfig(user string) []string {
	return []string{
		synced, unadvertised, "authorization {users: [{user: administrator, password: other}, " + user + "]}",
		"no_auth_user: administrator",
	}
}

// natsRevoke takes the rights of the candidates' user away, or the user, by turns.
func natsRevoke(servers ...*testserver.NATS) func() (func() error, error) {
	all := func(user string) error {
		var errs []error
		for _, n := range servers {
			errs = append(errs, n.Reconfigure(natsConfig(user)...))
		}
		return errors.Join(errs...)
	}
	user := unknown
	return func() (func() error, error) {
		if user == unknown {
			user = forbidden
		} else {
			user = unknown
		}
		return func() error { return all(permitted) }, all(user)
	}
}

// NATS is one NATS server that syncs every write.
func NATS() Bed {
	return Bed{Name: "natskv", About: "one server, sync_interval: always", Start: func(tb testserver.TB) (*Server, error) {
		n := testserver.StartNATS(tb, natsConfig(permitted)...)
		return &Server{
			Version: "nats-server", Addrs: []string{n.Addr}, URL: one("nats://" + natsUser + "@{}/elections"),
			Nodes: []Node{{Name: "nats", Process: n.Process}}, Revoke: natsRevoke(n),
		}, nil
	}}
}

// NATSCluster is three NATS servers that each keep every record and sync every write.
func NATSCluster() Bed {
	return Bed{
		Name: "natskv-cluster", About: "three servers, three replicas, sync_interval: always", Start: startNATSCluster,
	}
}

func startNATSCluster(tb testserver.TB) (*Server, error) {
	cluster := testserver.StartNATSCluster(tb, 3, nil, natsConfig(permitted)...)
	s := &Server{Version: "nats-server", Revoke: natsRevoke(cluster...), URL: func(addrs []string) string {
		const parameters = "?replicas=3&sync=always&servers="
		return "nats://" + natsUser + "@" + addrs[0] + "/elections" + parameters + strings.Join(addrs[1:], ",")
	}}
	for _, n := range cluster {
		s.Addrs = append(s.Addrs, n.Addr)
		s.Nodes = append(s.Nodes, Node{Name: n.Name, Process: n.Process})
	}
	s.ChangeLeader = func() (string, error) { return stepDown(s.Addrs) }
	return s, nil
}

// stepDown has the leader of the stream in which the records are step down, and waits for another. One that steps down
// may be chosen again.
func stepDown(addrs []string) (seen string, err error) {
	for range 4 {
		if seen, err = stepDownOnce(addrs); err == nil {
			break
		}
	}
	return seen, err
}

func stepDownOnce(addrs []string) (string, error) {
	conn, err := nats.Connect("nats://" + strings.Join(addrs, ",nats://"))
	if err != nil {
		return "", err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	before, err := streamLeader(ctx, js)
	if err != nil {
		return "", err
	}
	reply, err := conn.RequestWithContext(ctx, "$JS.API.STREAM.LEADER.STEPDOWN."+stream, nil)
	if err != nil {
		return "", err
	}
	var answer struct {
		Error *struct {
			Description string `json:"description"`
		} `json:"error"`
	}
	if err := json.Unmarshal(reply.Data, &answer); err != nil {
		return "", err
	}
	if answer.Error != nil {
		return "", errors.New(answer.Error.Description)
	}
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); {
		now, err := streamLeader(ctx, js)
		if err == nil && now != "" && now != before {
			return fmt.Sprintf("%s led the stream, and %s does", before, now), nil
		}
		time.Sleep(20 * time.Millisecond) // nothing tells
	}
	return "", fmt.Errorf("%s goes on leading the stream", before)
}

// stream is what JetStream calls the bucket of the elections.
const stream = "KV_elections"

func streamLeader(ctx context.Context, js jetstream.JetStream) (string, error) {
	s, err := js.Stream(ctx, stream)
	if err != nil {
		return "", err
	}
	if cluster := s.CachedInfo().Cluster; cluster != nil {
		return cluster.Leader, nil
	}
	return "", nil
}
